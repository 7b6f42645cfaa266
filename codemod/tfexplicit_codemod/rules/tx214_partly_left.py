"""TX214: another update of the same optimizer is left."""

from __future__ import annotations

from tfexplicit_codemod.leave import Leave
from tfexplicit_codemod.registry import Rule


def leave(receiver: str, code: str) -> Leave:
    return Leave(rule.code, f"another update of `{receiver}` is left ({code})")


rule = Rule(
    code="TX214",
    name="partly-left",
    summary="Another update of the same optimizer is left.",
    why=(
        "Two ways of stepping one optimizer side by side are hard to read and easy to break. "
        "Once the other update is settled, this one follows."
    ),
    before="""\
import tensorflow as tf

tf.keras.utils.set_random_seed(1)
x = tf.random.normal((32, 4))
y = tf.reduce_sum(x, axis=1, keepdims=True)
model = tf.keras.Sequential([tf.keras.layers.Dense(8, "tanh"), tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.Adam(0.01)


def gradients():
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    return tape.gradient(loss, model.trainable_variables)


optimizer.apply_gradients(zip(gradients(), model.trainable_variables))
for _ in range(5):
    print(int(optimizer.apply_gradients(zip(gradients(), model.trainable_variables))))
""",
    after="""\
import tensorflow as tf

tf.keras.utils.set_random_seed(1)
x = tf.random.normal((32, 4))
y = tf.reduce_sum(x, axis=1, keepdims=True)
model = tf.keras.Sequential([tf.keras.layers.Dense(8, "tanh"), tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.Adam(0.01)


def gradients():
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    return tape.gradient(loss, model.trainable_variables)


# TODO(tfexplicit TX214): another update of `optimizer` is left (TX207)
optimizer.apply_gradients(zip(gradients(), model.trainable_variables))
for _ in range(5):
    # TODO(tfexplicit TX207): the value of `optimizer.apply_gradients` is used
    print(int(optimizer.apply_gradients(zip(gradients(), model.trainable_variables))))
""",
)
