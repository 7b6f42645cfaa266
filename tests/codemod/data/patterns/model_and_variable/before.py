import tensorflow as tf

model = make()
scale = tf.Variable(1.0)
opt = tf.keras.optimizers.Adam()


def step():
    variables = [*model.trainable_variables, scale]
    grads = tape.gradient(loss, variables)
    opt.apply_gradients(zip(grads, variables))
