import tensorflow as tf
import tfexplicit as tx

model = make()
opt = tx.Adam(learning_rate=rate)
opt_state = tx.setup(opt, model)


@tf.function(input_signature=None)
def train_step(net, inputs):
    with tf.GradientTape() as tape:
        loss = f(net(inputs))
    grads = tape.gradient(loss, tx.trainables(net))
    tx.update(opt_state, net, grads)


train_step(model, first)
train_step(inputs=second, net=model)
