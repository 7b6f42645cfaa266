"""TX208: `minimize` computes the gradients itself."""

from __future__ import annotations

from tfexplicit_codemod.leave import Leave
from tfexplicit_codemod.registry import Rule


def leave() -> Leave:
    return Leave(rule.code, "write `tx.minimize(loss_fn, opt_state, model)`")


rule = Rule(
    code="TX208",
    name="minimize",
    summary="`minimize` computes the gradients itself.",
    why=(
        "`minimize` records its own tape. `tx.minimize(loss_fn, opt_state, model)` does the "
        "same; its function takes the model."
    ),
    before="""\
import tensorflow as tf
import tf_keras

W = tf.Variable(5.0)
optimizer = tf_keras.optimizers.SGD(learning_rate=0.1)


def loss_fn():
    return tf.square(W)


for _ in range(5):
    optimizer.minimize(loss_fn, var_list=[W])
    print(float(W))
""",
    after="""\
import tensorflow as tf
import tf_keras

W = tf.Variable(5.0)
optimizer = tf_keras.optimizers.SGD(learning_rate=0.1)


def loss_fn():
    return tf.square(W)


for _ in range(5):
    # TODO(tfexplicit TX208): write `tx.minimize(loss_fn, opt_state, model)`
    optimizer.minimize(loss_fn, var_list=[W])
    print(float(W))
""",
)
