"""TX216: `optimizer.get_updates(loss, params)`, which only makes operations of a graph."""

from __future__ import annotations

from tfexplicit_codemod.leave import Leave
from tfexplicit_codemod.registry import Rule


def leave(optimizer: str) -> Leave:
    return Leave(rule.code, f"`{optimizer}.get_updates` makes operations that a graph runs later")


rule = Rule(
    code="TX216",
    name="get-updates",
    summary="`optimizer.get_updates(loss, params)` makes operations that a graph runs later.",
    why=(
        "In Keras 1 and 2, `get_updates` takes no step: it gives the operations of one, for "
        "`K.function` or a session to run. It needs a graph of TensorFlow 1, and Keras 3 has it no "
        "more. `update` steps where it is called, so the loop around it has to change, too: make "
        "`opt_state = tx.setup(optimizer, model)` once, compute the loss under a "
        "`tf.GradientTape`, and write `tx.update(opt_state, model, tape.gradient(loss, "
        "tx.trainables(model)))` where the function or the session ran."
    ),
    before="""\
import tensorflow as tf
import tf_keras

with tf.Graph().as_default(), tf.compat.v1.Session() as session:
    W = tf.Variable(5.0)
    optimizer = tf_keras.optimizers.legacy.SGD(0.1)
    updates = optimizer.get_updates(loss=tf.square(W), params=[W])
    session.run(tf.compat.v1.global_variables_initializer())
    for _ in range(5):
        session.run(updates)
        print(session.run(W))
""",
    after="""\
import tensorflow as tf
import tf_keras

with tf.Graph().as_default(), tf.compat.v1.Session() as session:
    W = tf.Variable(5.0)
    optimizer = tf_keras.optimizers.legacy.SGD(0.1)
    # TODO(tfexplicit TX216): `optimizer.get_updates` makes operations that a graph runs later
    updates = optimizer.get_updates(loss=tf.square(W), params=[W])
    session.run(tf.compat.v1.global_variables_initializer())
    for _ in range(5):
        session.run(updates)
        print(session.run(W))
""",
)
