import re

import tensorflow as tf

tf.keras.utils.set_random_seed(1)
x = tf.random.normal((32, 4))
y = tf.reduce_sum(x, axis=1, keepdims=True)


class Net(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = tf.keras.layers.Dense(1)
        self.optimizer = tf.keras.optimizers.Adam(0.01)

    def call(self, x):
        return self.dense(x)

    def step(self, x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(self(x) - y))
        grads = tape.gradient(loss, self.trainable_weights)
        self.optimizer.apply_gradients(zip(grads, self.trainable_weights))
        return loss


def get_model():
    inputs = tf.keras.layers.Input(shape=(4,))
    model = tf.keras.Model(inputs, tf.keras.layers.Dense(1)(inputs))
    return model


net = Net()
for _ in range(5):
    print(float(net.step(x, y)))
other = get_model()
other.compile(optimizer="adam", loss="mse")
other.fit(x, y, verbose=0)
print(re.compile("a").match("a"))


def get_model():
    return tf.keras.Sequential([tf.keras.layers.Dense(2), tf.keras.layers.Dense(1)])


get_model().compile(loss="mse")
