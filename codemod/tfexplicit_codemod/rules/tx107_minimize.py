"""TX107: `optimizer.minimize(loss_fn, var_list)` becomes `tx.minimize`, or `update` of a tape."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfexplicit_codemod.registry import AtRunTime, Rule

if TYPE_CHECKING:
    from tfexplicit_codemod.analysis.minimized import Minimized
    from tfexplicit_codemod.analysis.variables import Leaves


def code(tx: str, state: str, what: Minimized, leaves: Leaves) -> str:
    """The step, for a function of nothing or for a value that a tape has recorded."""
    if what.tape is None:
        return f"{tx}.minimize({what.loss}, {state}, {leaves.text})"
    if what.may_scale:
        return f"{tx}.minimize({what.loss}, {state}, {leaves.text}, tape={what.tape})"
    gradients = f"{what.tape}.gradient({what.loss}, {tx}.trainables({leaves.text}))"
    return f"{tx}.update({state}, {leaves.text}, {gradients})"


rule = Rule(
    code="TX107",
    name="minimize",
    summary="`optimizer.minimize(loss_fn, var_list)` becomes `tx.minimize`.",
    why=(
        "`tx.minimize` records the loss, takes the gradients and updates, as `minimize` of Keras 2 "
        "did; Keras 3 has none. A loss that may take an argument is wrapped, since `tx.minimize` "
        "calls it with the model if it can. With `tape=` the loss is a value already, so the "
        "tape's gradients go to `update`; where `compile` may have wrapped the optimizer in one "
        "that scales the loss, `tx.minimize` gets the tape."
    ),
    at_run_time=AtRunTime(
        does="`{optimizer}.minimize` keeps hidden state for the variables that it is given.",
        write=(
            "`{state} = tx.setup({optimizer}, {model})` once, and "
            "`tx.minimize({loss}, {state}, {model})` here"
        ),
    ),
    before="""\
import tensorflow as tf
import tf_keras

W = tf.Variable(5.0)
b = tf.Variable(1.0)
optimizer = tf_keras.optimizers.Adam(learning_rate=0.1)
other = tf_keras.optimizers.SGD(learning_rate=0.1)


def loss_fn():
    return tf.square(W + 1.0)


@tf.function
def train_step():
    optimizer.minimize(loss_fn, var_list=[W])


for _ in range(5):
    train_step()
    with tf.GradientTape() as tape:
        loss = tf.square(b * W)
    other.minimize(loss, [b], tape=tape)
    print(float(W), float(b))
print("steps:", int(optimizer.iterations), int(other.iterations))
""",
    after="""\
import tensorflow as tf
import tf_keras
import tfexplicit as tx

W = tf.Variable(5.0)
b = tf.Variable(1.0)
optimizer = tx.Adam(learning_rate=0.1)
opt_state = tx.setup(optimizer, [W])
other = tx.SGD(learning_rate=0.1)
other_opt_state = tx.setup(other, [b])


def loss_fn():
    return tf.square(W + 1.0)


@tf.function
def train_step():
    tx.minimize(loss_fn, opt_state, [W])


for _ in range(5):
    train_step()
    with tf.GradientTape() as tape:
        loss = tf.square(b * W)
    tx.update(other_opt_state, [b], tape.gradient(loss, tx.trainables([b])))
    print(float(W), float(b))
print("steps:", int(opt_state.step), int(other_opt_state.step))
""",
)
