"""TX203: the optimizer or model is bound in a way that leaves the place of `setup` open."""

from __future__ import annotations

from tfexplicit_codemod.leave import Leave
from tfexplicit_codemod.registry import Rule


def leave(what: str) -> Leave:
    return Leave(rule.code, what)


rule = Rule(
    code="TX203",
    name="unclear-definition",
    summary="The optimizer or model is bound in a way that leaves the place of `setup` open.",
    why=(
        "`setup` goes after the statement that binds the later of optimizer and model, and "
        "must run exactly once before the first update. Where either is bound in a branch, in "
        "a loop or twice, no such place can be proven."
    ),
    before="""\
import tensorflow as tf

tf.keras.utils.set_random_seed(1)
x = tf.random.normal((32, 4))
y = tf.reduce_sum(x, axis=1, keepdims=True)
model = tf.keras.Sequential([tf.keras.layers.Dense(8, "tanh"), tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.Adam(0.01)

for step in range(6):
    if step == 3:
        optimizer = tf.keras.optimizers.SGD(0.01)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    print(float(loss))
""",
    after="""\
import tensorflow as tf

tf.keras.utils.set_random_seed(1)
x = tf.random.normal((32, 4))
y = tf.reduce_sum(x, axis=1, keepdims=True)
model = tf.keras.Sequential([tf.keras.layers.Dense(8, "tanh"), tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.Adam(0.01)

for step in range(6):
    if step == 3:
        optimizer = tf.keras.optimizers.SGD(0.01)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    grads = tape.gradient(loss, model.trainable_variables)
    # TODO(tfexplicit TX203): `optimizer` is bound in a branch or a loop, or more than once
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    print(float(loss))
""",
)
