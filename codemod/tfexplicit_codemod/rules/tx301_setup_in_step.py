"""TX301: `setup` is called inside the step."""

from __future__ import annotations

from tfexplicit_codemod.registry import AtRunTime, Rule

rule = Rule(
    code="TX301",
    name="setup-in-step",
    summary="`setup` is called inside the step.",
    why=(
        "A state that is made at every step is new at every step: momentum and Adam's averages "
        "start from zero each time, and the step count stays at one. Make the state once, beside "
        "the model, and let the step read it. The warning comes at the third state in a row that "
        "one line makes for the same variables and that serves for at most one update. Inside a "
        "`tf.function` that makes a state at each trace, `setup` raises an error."
    ),
    at_run_time=AtRunTime(
        does="`setup` runs at every step, so each step has a state that starts from zero.",
        write=(
            "`opt_state = tx.setup(rule, model)` once, before the loop and outside of any "
            "`tf.function`"
        ),
    ),
    before="""\
import tensorflow as tf
import tfexplicit as tx

W = tf.Variable(5.0)


def train_step():
    opt_state = tx.setup(tx.Adam(0.1), [W])  # warns
    tx.update(opt_state, [W], [2.0 * W])


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
