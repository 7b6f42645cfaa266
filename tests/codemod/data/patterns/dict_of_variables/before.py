import tensorflow as tf

weights = {
    "hidden": tf.Variable(tf.random.normal([784, 128])),
    "out": tf.Variable(tf.random.normal([128, 10])),
}
biases = {"hidden": tf.Variable(tf.zeros([128])), "out": tf.Variable(tf.zeros([10]))}
optimizer = tf.keras.optimizers.Adam(0.1)


def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, network(x))
    trainable_variables = list(weights.values()) + list(biases.values())
    gradients = tape.gradient(loss, trainable_variables)
    optimizer.apply_gradients(zip(gradients, trainable_variables))
