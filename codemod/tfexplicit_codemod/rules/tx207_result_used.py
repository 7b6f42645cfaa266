"""TX207: the update is part of another expression."""

from __future__ import annotations

from tfexplicit_codemod.leave import Leave
from tfexplicit_codemod.registry import Rule


def leave(method: str) -> Leave:
    return Leave(rule.code, f"the value of `{method}` is used")


rule = Rule(
    code="TX207",
    name="result-used",
    summary="The update is part of another expression, or its value goes out of sight.",
    why=(
        "`update` is a statement: it assigns the variables in place. Where the value goes into "
        "another expression, or out of sight, its reader may tell Keras' count of steps from "
        "`opt_state.step`, or may need the None or the operation that other updates give. Write "
        "the update on a line of its own, and read `opt_state.step` below it "
        "([TX116](TX116.md))."
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
    counts = [optimizer.apply_gradients(zip(grads, model.trainable_variables))]
    print(counts, float(loss))
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
    counts = [optimizer.apply_gradients(zip(grads, model.trainable_variables))]
    print(counts, float(loss))
""",
)
