"""The gradient is taken over `model.variables`, as many older tutorials do."""

import tensorflow as tf


class CNN(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.conv = tf.keras.layers.Conv2D(4, 3, activation=tf.nn.relu)
        self.flatten = tf.keras.layers.Flatten()
        self.dense = tf.keras.layers.Dense(3)

    def call(self, inputs):
        x = self.flatten(self.conv(inputs))
        return tf.nn.softmax(self.dense(x))


tf.random.set_seed(25)
num_batches = 25
images = tf.random.normal((96, 6, 6, 1))
labels = tf.argmax(tf.reduce_sum(images[:, :, :3, 0], axis=1), axis=1)

model = CNN()
optimizer = tf.keras.optimizers.Adam(learning_rate=0.01)
for batch_index in range(num_batches):
    with tf.GradientTape() as tape:
        y_pred = model(images)
        loss = tf.keras.losses.sparse_categorical_crossentropy(y_true=labels, y_pred=y_pred)
        loss = tf.reduce_mean(loss)
    if batch_index % 8 == 0:
        print(f"batch {batch_index}: loss {loss.numpy():f}")
    grads = tape.gradient(loss, model.variables)
    optimizer.apply_gradients(grads_and_vars=zip(grads, model.variables))
