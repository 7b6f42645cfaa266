"""TX202: the model or variable comes from where the optimizer is not."""

from __future__ import annotations

from tfexplicit_codemod.leave import Leave
from tfexplicit_codemod.registry import Rule


def leave(model: str, how: str) -> Leave:
    return Leave(rule.code, f"`{model}` {how}")


rule = Rule(
    code="TX202",
    name="model-out-of-sight",
    summary="The model or variable comes from where the optimizer is not.",
    why=(
        "`setup` needs the model and the optimizer at one place, and the state lives as long "
        "as the optimizer. Here the model is not there: it is a parameter, made anew in "
        "another function, or an attribute of an object whose class is in another file."
    ),
    before="""\
import tensorflow as tf

tf.keras.utils.set_random_seed(1)
x = tf.random.normal((32, 4))
y = tf.reduce_sum(x, axis=1, keepdims=True)
optimizer = tf.keras.optimizers.SGD(0.1)


def fit(x, y):
    W = tf.Variable(tf.zeros((4, 1)))
    for _ in range(5):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(x @ W - y))
        grad = tape.gradient(loss, W)
        optimizer.apply_gradients([(grad, W)])
        print(float(loss))
    return W


fit(x, y)
""",
    after="""\
import tensorflow as tf

tf.keras.utils.set_random_seed(1)
x = tf.random.normal((32, 4))
y = tf.reduce_sum(x, axis=1, keepdims=True)
optimizer = tf.keras.optimizers.SGD(0.1)


def fit(x, y):
    W = tf.Variable(tf.zeros((4, 1)))
    for _ in range(5):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(x @ W - y))
        grad = tape.gradient(loss, W)
        # TODO(tfexplicit TX202): `W` is made in `fit`, the optimizer is not
        optimizer.apply_gradients([(grad, W)])
        print(float(loss))
    return W


fit(x, y)
""",
)
