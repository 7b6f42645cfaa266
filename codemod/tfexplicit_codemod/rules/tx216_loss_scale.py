"""TX216: the optimizer scales the loss."""

from __future__ import annotations

from tfexplicit_codemod.leave import Leave
from tfexplicit_codemod.registry import Rule


def leave(receiver: str) -> Leave:
    return Leave(rule.code, f"`{receiver}` scales the loss: all of that must move together")


rule = Rule(
    code="TX216",
    name="loss-scale",
    summary="The optimizer scales the loss.",
    why=(
        "Scaling the loss, unscaling the gradients and skipping a bad step belong together; "
        "moving only the update would break them."
    ),
    before="""\
import tensorflow as tf

tf.keras.utils.set_random_seed(1)
x = tf.random.normal((32, 4))
y = tf.reduce_sum(x, axis=1, keepdims=True)
model = tf.keras.Sequential([tf.keras.layers.Dense(8, "tanh"), tf.keras.layers.Dense(1)])
inner = tf.keras.optimizers.SGD(0.05)
optimizer = tf.keras.mixed_precision.LossScaleOptimizer(inner)

for _ in range(5):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
        scaled = optimizer.scale_loss(loss)
    grads = tape.gradient(scaled, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    print(float(loss))
""",
    after="""\
import tensorflow as tf

tf.keras.utils.set_random_seed(1)
x = tf.random.normal((32, 4))
y = tf.reduce_sum(x, axis=1, keepdims=True)
model = tf.keras.Sequential([tf.keras.layers.Dense(8, "tanh"), tf.keras.layers.Dense(1)])
inner = tf.keras.optimizers.SGD(0.05)
optimizer = tf.keras.mixed_precision.LossScaleOptimizer(inner)

for _ in range(5):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
        scaled = optimizer.scale_loss(loss)
    grads = tape.gradient(scaled, model.trainable_variables)
    # TODO(tfexplicit TX216): `optimizer` scales the loss: all of that must move together
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    print(float(loss))
""",
)
