import tensorflow as tf
import tfexplicit as tx

W = tf.Variable(1.0)
b = tf.Variable(1.0)
params = [W, b]
opt = tx.SGD(0.1)
opt_state = tx.setup(opt, params)


@tf.function
def step():
    with tf.GradientTape() as tape:
        loss = W * b
    grads = tape.gradient(loss, params)
    tx.update(opt_state, params, grads)
