"""TX206: the list of variables is not understood."""

from __future__ import annotations

from tfexplicit_codemod.leave import Leave
from tfexplicit_codemod.registry import Rule


def leave(variables: str, why: str) -> Leave:
    return Leave(rule.code, f"`{variables}` {why}")


rule = Rule(
    code="TX206",
    name="variable-list",
    summary="The list of variables is not understood.",
    why=(
        "The state must have exactly the leaves that are updated, in that order. Write them "
        "as `model.trainable_variables`, as a sum of those, or as a list of names."
    ),
    before="""\
import tensorflow as tf

tf.keras.utils.set_random_seed(1)
x = tf.random.normal((32, 4))
y = tf.reduce_sum(x, axis=1, keepdims=True)
model = tf.keras.Sequential([tf.keras.layers.Dense(8, "tanh"), tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.Adam(0.01)


def kernels(model):
    return [v for v in model.trainable_variables if len(v.shape) == 2]


for _ in range(5):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    variables = kernels(model)
    grads = tape.gradient(loss, variables)
    optimizer.apply_gradients(zip(grads, variables))
    print(float(loss))
""",
    after="""\
import tensorflow as tf

tf.keras.utils.set_random_seed(1)
x = tf.random.normal((32, 4))
y = tf.reduce_sum(x, axis=1, keepdims=True)
model = tf.keras.Sequential([tf.keras.layers.Dense(8, "tanh"), tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.Adam(0.01)


def kernels(model):
    return [v for v in model.trainable_variables if len(v.shape) == 2]


for _ in range(5):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    variables = kernels(model)
    grads = tape.gradient(loss, variables)
    # TODO(tfexplicit TX206): `kernels(model)` is put together by a call in ways not followed
    optimizer.apply_gradients(zip(grads, variables))
    print(float(loss))
""",
)
