"""TX304: A model that has an explicit state is stepped in the implicit style."""

from __future__ import annotations

from tfexplicit_codemod.registry import AtRunTime, Rule

rule = Rule(
    code="TX304",
    name="both-styles",
    summary="A model that has an explicit state is stepped in the implicit style.",
    why=(
        "Each style keeps its own slots and its own step count, and neither sees the steps of"
        " the other. Step a model in one way."
    ),
    at_run_time=AtRunTime(
        does=(
            "`{optimizer}.{call}` steps variables that have an explicit state, which does not"
            " see this step."
        ),
        write=(
            "`tx.update(opt_state, {model}, {grads})` here too, with the state that "
            "`tx.setup` made for these variables"
        ),
    ),
    before="""\
import tensorflow as tf
import tfexplicit as tx

W = tf.Variable(5.0)
opt_state = tx.setup(tx.Adam(0.1), [W])
rule = tx.Adam(0.1)
for _ in range(3):
    tx.update(opt_state, [W], [2.0 * W])
    rule.apply_gradients([(2.0 * W, W)])  # warns
""",
    after="""\
import tensorflow as tf
import tfexplicit as tx

W = tf.Variable(5.0)
opt_state = tx.setup(tx.Adam(0.1), [W])
for _ in range(3):
    tx.update(opt_state, [W], [2.0 * W])
    tx.update(opt_state, [W], [2.0 * W])
""",
)
