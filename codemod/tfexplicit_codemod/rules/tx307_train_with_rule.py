"""TX307: `train` is given a rule in place of a state."""

from __future__ import annotations

from tfexplicit_codemod.registry import AtRunTime, Rule

rule = Rule(
    code="TX307",
    name="train-with-rule",
    summary="`train` is given a rule in place of a state.",
    why=(
        "The rule keeps the state to itself then, and nobody can save it or go on from it by name."
    ),
    at_run_time=AtRunTime(
        does=("`train` keeps hidden state in the rule."),
        write=("`opt_state = tx.setup(rule, model)` once, and give `opt_state` to `tx.train`"),
    ),
    before="""\
import tensorflow as tf
import tfexplicit as tx

W = tf.Variable(5.0)
tx.train(lambda model, x: (model[0] - x) ** 2, [W], [tf.constant(1.0)], tx.SGD(0.1))  # warns
""",
    after="""\
import tensorflow as tf
import tfexplicit as tx

W = tf.Variable(5.0)
opt_state = tx.setup(tx.SGD(0.1), [W])
tx.train(lambda model, x: (model[0] - x) ** 2, [W], [tf.constant(1.0)], opt_state)
""",
)
