"""TX208: what `minimize` minimizes, or how, cannot be told."""

from __future__ import annotations

from tfexplicit_codemod.leave import Leave
from tfexplicit_codemod.registry import Rule


def leave(receiver: str, why: str) -> Leave:
    return Leave(rule.code, f"`{receiver}` {why}")


rule = Rule(
    code="TX208",
    name="unclear-minimize",
    summary="What `minimize` minimizes, or how, cannot be told.",
    why=(
        "`minimize` takes a function, or a value with its tape, and an optimizer class of your own "
        "may compute the gradients in another way. Write "
        "`tx.minimize(loss_fn, opt_state, model)` with a loss function that takes the model."
    ),
    before="""\
import tensorflow as tf
import tf_keras

W = tf.Variable(5.0)
optimizer = tf_keras.optimizers.SGD(learning_rate=0.1)


def make_loss(scale):
    return lambda: scale * tf.square(W)


for _ in range(5):
    optimizer.minimize(make_loss(2.0), var_list=[W])
    print(float(W))
""",
    after="""\
import tensorflow as tf
import tf_keras

W = tf.Variable(5.0)
optimizer = tf_keras.optimizers.SGD(learning_rate=0.1)


def make_loss(scale):
    return lambda: scale * tf.square(W)


for _ in range(5):
    # TODO(tfexplicit TX208): `minimize` gets `make_loss(2.0)`, which is not a plain name
    optimizer.minimize(make_loss(2.0), var_list=[W])
    print(float(W))
""",
)
