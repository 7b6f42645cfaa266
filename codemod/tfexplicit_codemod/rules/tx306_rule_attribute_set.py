"""TX306: A hyperparameter of a rule is assigned."""

from __future__ import annotations

from tfexplicit_codemod.registry import AtRunTime, Rule

rule = Rule(
    code="TX306",
    name="rule-attribute-set",
    summary="A hyperparameter of a rule is assigned.",
    why=(
        "A rule is a value: two states may go by one rule. In the implicit style the rule "
        "keeps a state to itself, and the assignment changes that state. A rule that keeps "
        "none, or that an explicit state goes by, cannot be assigned to: it is an error that "
        "names `tx.adjust`."
    ),
    at_run_time=AtRunTime(
        does=("The assignment changes the hidden state of the implicit style."),
        write=("`tx.adjust(opt_state, {call}=...)`, with `opt_state = tx.setup(rule, model)`"),
    ),
    before="""\
import tensorflow as tf
import tfexplicit as tx

W = tf.Variable(5.0)
rule = tx.SGD(0.1)
for _ in range(3):
    rule.apply_gradients([(2.0 * W, W)])
    rule.learning_rate = rule.learning_rate * 0.5  # warns
""",
    after="""\
import tensorflow as tf
import tfexplicit as tx

W = tf.Variable(5.0)
opt_state = tx.setup(tx.SGD(0.1), [W])
for _ in range(3):
    tx.update(opt_state, [W], [2.0 * W])
    tx.adjust(opt_state, learning_rate=opt_state.hyper["learning_rate"] * 0.5)
""",
)
