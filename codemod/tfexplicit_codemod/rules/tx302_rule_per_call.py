"""TX302: A rule of the implicit style is made for one call."""

from __future__ import annotations

from tfexplicit_codemod.registry import AtRunTime, Rule

rule = Rule(
    code="TX302",
    name="rule-per-call",
    summary="A rule of the implicit style is made for one call.",
    why=(
        "In the implicit style the rule keeps the state, so a rule that is made at every step"
        " starts from zero at every step. The warning comes at the third rule in a row that "
        "one line uses for the same variables and that makes at most one update."
    ),
    at_run_time=AtRunTime(
        does=("`{optimizer}` is made anew for each call, so its state starts from zero each time."),
        write=(
            "`opt_state = tx.setup(rule, {model})` once, before the loop, and "
            "`tx.update(opt_state, {model}, {grads})` here"
        ),
    ),
    before="""\
import tensorflow as tf
import tfexplicit as tx

W = tf.Variable(5.0)


def train_step():
    tx.Adam(0.1).apply_gradients([(2.0 * W, W)])  # warns


for _ in range(4):
    train_step()
""",
    after="""\
import tensorflow as tf
import tfexplicit as tx

W = tf.Variable(5.0)
opt_state = tx.setup(tx.Adam(0.1), [W])


def train_step():
    tx.update(opt_state, [W], [2.0 * W])


for _ in range(4):
    train_step()
""",
)
