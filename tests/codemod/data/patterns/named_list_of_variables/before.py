import tensorflow as tf

W = tf.Variable(1.0)
b = tf.Variable(1.0)
params = [W, b]
opt = tf.optimizers.SGD(0.1)


@tf.function
def step():
    with tf.GradientTape() as tape:
        loss = W * b
    grads = tape.gradient(loss, params)
    opt.apply_gradients(zip(grads, params))
