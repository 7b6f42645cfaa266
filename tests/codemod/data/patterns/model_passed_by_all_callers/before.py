import tensorflow as tf

model = make()
opt = tf.keras.optimizers.Adam(learning_rate=rate)


@tf.function(input_signature=None)
def train_step(net, inputs):
    with tf.GradientTape() as tape:
        loss = f(net(inputs))
    grads = tape.gradient(loss, net.trainable_variables)
    opt.apply_gradients(zip(grads, net.trainable_variables))


train_step(model, first)
train_step(inputs=second, net=model)
