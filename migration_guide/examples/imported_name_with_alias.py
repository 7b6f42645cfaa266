"""The optimizer class is imported by name and under another name."""

import numpy as np
import tensorflow as tf
from tensorflow.keras.layers import Dense
from tensorflow.keras.models import Sequential
from tensorflow.keras.optimizers import Adam as A

tf.keras.utils.set_random_seed(16)

inputs = np.random.rand(200, 3).astype(np.float32)
targets = (inputs @ np.array([[1.0], [-2.0], [0.5]])).astype(np.float32)

net = Sequential([Dense(8, activation="relu"), Dense(1)])
opt = A(0.01, 0.9, 0.99)


def step(x, y):
    with tf.GradientTape() as tape:
        error = net(x) - y
        cost = tf.reduce_mean(error * error)
    opt.apply_gradients(
        zip(tape.gradient(cost, net.trainable_variables), net.trainable_variables),
    )
    return cost


for epoch in range(1, 21):
    cost = step(inputs, targets)
    if epoch % 5 == 0:
        print("epoch", epoch, "cost", cost.numpy())
