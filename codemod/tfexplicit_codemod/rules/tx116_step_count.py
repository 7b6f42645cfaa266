"""TX116: `step = optimizer.apply_gradients(...)` becomes the update, then `opt_state.step`."""

from __future__ import annotations

import ast

from tfexplicit_codemod.analysis.source import Source
from tfexplicit_codemod.edits import InsertAfter, Replace
from tfexplicit_codemod.registry import Rule


def edits(
    source: Source, statement: ast.stmt, step: str, state: str
) -> tuple[Replace, InsertAfter]:
    """The step in the statement's place, and below it the statement with the count."""
    head = "return"
    if isinstance(statement, ast.Assign):
        head = f"{source.segment(statement.targets[0])} ="
    return (
        Replace(source.start(statement), source.end(statement), step),
        InsertAfter(source.leader_line(statement), f"{head} {state}.step"),
    )


rule = Rule(
    code="TX116",
    name="step-count",
    summary="`step = optimizer.apply_gradients(...)` becomes `tx.update(...)`, then the count.",
    why=(
        "`apply_gradients` gives Keras' count of steps, `iterations`; `opt_state.step` is the same "
        "number, int64 too, and later steps count both on. The kinds of variable differ, so every "
        "reader of the value must be in sight, through names and the callers of a function that "
        "returns it, and read a number: `int(step)`, `step.numpy()`, `step % 100 == 0`, "
        "`tf.print(step)`. A value that nobody reads may be anything, such as the None that "
        "`apply` of Keras 3 and `minimize` of `tf_keras` give. What is read otherwise is left "
        "([TX207](TX207.md))."
    ),
    before="""\
import tensorflow as tf

tf.keras.utils.set_random_seed(1)
x = tf.random.normal((32, 4))
y = tf.reduce_sum(x, axis=1, keepdims=True)
model = tf.keras.Sequential([tf.keras.layers.Dense(8, "tanh"), tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.Adam(0.01)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    grads = tape.gradient(loss, model.trainable_variables)
    return optimizer.apply_gradients(zip(grads, model.trainable_variables))


for _ in range(5):
    step = train_step(x, y)
    if step % 2 == 0:
        print(int(step), float(model.weights[0][0, 0]))
""",
    after="""\
import tensorflow as tf
import tfexplicit as tx

tf.keras.utils.set_random_seed(1)
x = tf.random.normal((32, 4))
y = tf.reduce_sum(x, axis=1, keepdims=True)
model = tf.keras.Sequential([tf.keras.layers.Dense(8, "tanh"), tf.keras.layers.Dense(1)])
optimizer = tx.Adam(0.01)
opt_state = tx.setup(optimizer, model)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    grads = tape.gradient(loss, tx.trainables(model))
    tx.update(opt_state, model, grads)
    return opt_state.step


for _ in range(5):
    step = train_step(x, y)
    if step % 2 == 0:
        print(int(step), float(model.weights[0][0, 0]))
""",
)
