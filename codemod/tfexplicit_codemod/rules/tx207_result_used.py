"""TX207: the update is part of another expression."""

from __future__ import annotations

from tfexplicit_codemod.leave import Leave
from tfexplicit_codemod.registry import Rule


def leave(method: str) -> Leave:
    return Leave(rule.code, f"the value of `{method}` is used")


rule = Rule(
    code="TX207",
    name="result-used",
    summary="The update is part of another expression.",
    why=(
        "`update` is a statement: it assigns the variables in place. Read `opt_state.step` "
        "for the count that Keras returns."
    ),
    before="""\
import tensorflow as tf

tf.keras.utils.set_random_seed(1)
x = tf.random.normal((32, 4))
y = tf.reduce_sum(x, axis=1, keepdims=True)
model = tf.keras.Sequential([tf.keras.layers.Dense(8, "tanh"), tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.Adam(0.01)

for _ in range(5):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    grads = tape.gradient(loss, model.trainable_variables)
    step = optimizer.apply_gradients(zip(grads, model.trainable_variables))
    print(int(step), float(loss))
""",
    after="""\
import tensorflow as tf

tf.keras.utils.set_random_seed(1)
x = tf.random.normal((32, 4))
y = tf.reduce_sum(x, axis=1, keepdims=True)
model = tf.keras.Sequential([tf.keras.layers.Dense(8, "tanh"), tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.Adam(0.01)

for _ in range(5):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    grads = tape.gradient(loss, model.trainable_variables)
    # TODO(tfexplicit TX207): the value of `optimizer.apply_gradients` is used
    step = optimizer.apply_gradients(zip(grads, model.trainable_variables))
    print(int(step), float(loss))
""",
)
