"""Linear regression without a model object: the list `[W, b]` is what is trained."""

import numpy as np
import tensorflow as tf

np.random.seed(3)
X = np.random.rand(100).astype("float32")
Y = 3.0 * X + 0.5 + 0.05 * np.random.randn(100).astype("float32")

W = tf.Variable(0.1, name="weight")
b = tf.Variable(0.0, name="bias")


def linear_regression(x):
    return W * x + b


def mean_square(y_pred, y_true):
    return tf.reduce_mean(tf.pow(y_pred - y_true, 2))


optimizer = tf.optimizers.SGD(0.3)


def run_optimization():
    with tf.GradientTape() as g:
        pred = linear_regression(X)
        loss = mean_square(pred, Y)
    gradients = g.gradient(loss, [W, b])
    optimizer.apply_gradients(zip(gradients, [W, b]))
    return loss


for step in range(1, 41):
    loss = run_optimization()
    if step % 10 == 0 or step == 1:
        print(f"step: {step}, loss: {loss:f}, W: {W.numpy():f}, b: {b.numpy():f}")
