"""TX303: The result of a step is dropped, and it is all that the step makes."""

from __future__ import annotations

from tfexplicit_codemod.registry import AtRunTime, Rule

rule = Rule(
    code="TX303",
    name="dropped-result",
    summary="The result of a step is dropped, and it is all that the step makes.",
    why=(
        "Variables are assigned in place. A tensor cannot be: `update` gives back a model "
        "that holds the new one, and `updated` changes nothing at all. The warning comes "
        "where the source shows the call as a statement by itself."
    ),
    at_run_time=AtRunTime(
        does=(
            "`{call}` returns new tensors in place of assigning them, and the result is "
            "dropped: nothing is trained."
        ),
        write=(
            "`opt_state, model = tx.{call}(opt_state, model, grads)`, or make the leaves variables"
        ),
    ),
    before="""\
import tensorflow as tf
import tfexplicit as tx

params = {"w": tf.constant(5.0)}
opt_state = tx.setup(tx.SGD(0.1), params)
for _ in range(3):
    tx.update(opt_state, params, {"w": 2.0 * params["w"]})  # warns
""",
    after="""\
import tensorflow as tf
import tfexplicit as tx

params = {"w": tf.constant(5.0)}
opt_state = tx.setup(tx.SGD(0.1), params)
for _ in range(3):
    opt_state, params = tx.update(opt_state, params, {"w": 2.0 * params["w"]})
""",
)
