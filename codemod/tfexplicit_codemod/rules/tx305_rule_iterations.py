"""TX305: The step count is read from a rule."""

from __future__ import annotations

from tfexplicit_codemod.registry import AtRunTime, Rule

rule = Rule(
    code="TX305",
    name="rule-iterations",
    summary="The step count is read from a rule.",
    why=(
        "A rule holds numbers and no arrays. In the implicit style it keeps a state to "
        "itself, and `iterations` is the count of that state; an explicit state has it as "
        "`opt_state.step`."
    ),
    at_run_time=AtRunTime(
        does=("`iterations` of a rule is the count of the hidden state of the implicit style."),
        write=("`opt_state.step`, with `opt_state = tx.setup(rule, model)`"),
    ),
    before="""\
import tensorflow as tf
import tfexplicit as tx

W = tf.Variable(5.0)
rule = tx.Adam(0.1)
rule.apply_gradients([(2.0 * W, W)])
print(int(rule.iterations))  # warns
""",
    after="""\
import tensorflow as tf
import tfexplicit as tx

W = tf.Variable(5.0)
opt_state = tx.setup(tx.Adam(0.1), [W])
tx.update(opt_state, [W], [2.0 * W])
print(int(opt_state.step))
""",
)
