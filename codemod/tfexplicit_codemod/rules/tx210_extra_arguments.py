"""TX210: the update has arguments that `update` does not take."""

from __future__ import annotations

from tfexplicit_codemod.leave import Leave
from tfexplicit_codemod.registry import Rule


def leave(argument: str) -> Leave:
    return Leave(rule.code, f"`{argument}` has no counterpart in `tx.update`")


rule = Rule(
    code="TX210",
    name="extra-arguments",
    summary="The update has arguments that `update` does not take.",
    why=("The argument changes what the update does, so dropping it would change the training."),
    before="""\
import tensorflow as tf
import tf_keras

W = tf.Variable(5.0)
optimizer = tf_keras.optimizers.SGD(learning_rate=0.1)

for _ in range(5):
    with tf.GradientTape() as tape:
        loss = tf.square(W)
    grad = tape.gradient(loss, W)
    optimizer.apply_gradients([(grad, W)], skip_gradients_aggregation=True)
    print(float(W))
""",
    after="""\
import tensorflow as tf
import tf_keras

W = tf.Variable(5.0)
optimizer = tf_keras.optimizers.SGD(learning_rate=0.1)

for _ in range(5):
    with tf.GradientTape() as tape:
        loss = tf.square(W)
    grad = tape.gradient(loss, W)
    # TODO(tfexplicit TX210): `skip_gradients_aggregation=` has no counterpart in `tx.update`
    optimizer.apply_gradients([(grad, W)], skip_gradients_aggregation=True)
    print(float(W))
""",
)
