"""A `tf.Module` written by hand, trained in float64 with AMSGrad."""

from itertools import pairwise

import numpy as np
import tensorflow as tf


class Dense(tf.Module):
    def __init__(self, in_features, out_features, activation=None, name=None):
        super().__init__(name=name)
        init = tf.random.normal([in_features, out_features], stddev=0.4, dtype=tf.float64)
        self.w = tf.Variable(init, name="w")
        self.b = tf.Variable(tf.zeros([out_features], tf.float64), name="b")
        self.activation = activation or tf.identity

    def __call__(self, x):
        return self.activation(x @ self.w + self.b)


class MLP(tf.Module):
    def __init__(self, sizes):
        super().__init__()
        self.hidden = [Dense(n_in, n_out, tf.nn.tanh) for n_in, n_out in pairwise(sizes[:-1])]
        self.out = Dense(sizes[-2], sizes[-1])

    def __call__(self, x):
        for layer in self.hidden:
            x = layer(x)
        return self.out(x)


tf.random.set_seed(8)
tf.keras.backend.set_floatx("float64")
x = np.linspace(-2, 2, 128)[:, None]
y = np.sin(3 * x)

model = MLP([1, 16, 16, 1])
optimizer = tf.keras.optimizers.Adam(learning_rate=0.01, amsgrad=True)


@tf.function
def step():
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x) - y) ** 2)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for i in range(40):
    loss = step()
    if i % 13 == 0:
        print(i, "mse:", loss.numpy())
