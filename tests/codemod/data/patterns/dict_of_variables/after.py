import tensorflow as tf
import tfexplicit as tx

weights = {
    "hidden": tf.Variable(tf.random.normal([784, 128])),
    "out": tf.Variable(tf.random.normal([128, 10])),
}
biases = {"hidden": tf.Variable(tf.zeros([128])), "out": tf.Variable(tf.zeros([10]))}
optimizer = tx.Adam(0.1)
opt_state = tx.setup(optimizer, (weights, biases))


def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, network(x))
    trainable_variables = tx.trainables((weights, biases))
    gradients = tape.gradient(loss, trainable_variables)
    tx.update(opt_state, (weights, biases), gradients)
