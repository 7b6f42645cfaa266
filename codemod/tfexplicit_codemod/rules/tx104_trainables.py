"""TX104: `tape.gradient(loss, model.trainable_variables)` reads `tx.trainables(model)`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfexplicit_codemod.analysis.source import Source
from tfexplicit_codemod.analysis.variables import Leaves
from tfexplicit_codemod.edits import Replace
from tfexplicit_codemod.registry import Rule

if TYPE_CHECKING:
    from tfexplicit_codemod.analysis.gradients import Pairs


def edits(source: Source, tx: str, tape_variables: Leaves | None) -> list[Replace]:
    """The tape's variables through `trainables`; explicit variables stay as they are written."""
    if tape_variables is None or not all(part.is_model for part in tape_variables.parts):
        return []
    node = tape_variables.origin
    if source.has_comment(node):
        return []
    return [
        Replace(source.start(node), source.end(node), f"{tx}.trainables({tape_variables.text})")
    ]


def within(source: Source, pairs: Pairs, edit: Replace, tape_variables: ast.expr) -> str:
    """The code of gradients that the tape gives in the call of the update itself."""
    given = pairs.gradient_list
    if given is None or source.segment(given) != pairs.gradients:
        return pairs.gradients
    return source.segment_with(given, tape_variables, edit.code)


rule = Rule(
    code="TX104",
    name="trainables",
    summary="`model.trainable_variables` that feed the tape become `tx.trainables(model)`.",
    why=(
        "Gradients and state go by the same leaves in the same order. `tx.trainables(model)` "
        "gives the very variables of `model.trainable_variables`, and works for containers of "
        "models too. What lies between tape and update (clipping, accumulation, own helpers) "
        "goes on unchanged."
    ),
    before="""\
import tensorflow as tf

tf.keras.utils.set_random_seed(1)
x = tf.random.normal((32, 4))
y = tf.reduce_sum(x, axis=1, keepdims=True)
model = tf.keras.Sequential([tf.keras.layers.Dense(8, "tanh"), tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.Adam(0.01)

for _ in range(5):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    variables = model.trainable_variables
    grads = tape.gradient(loss, variables)
    grads, norm = tf.clip_by_global_norm(grads, 1.0)
    optimizer.apply_gradients(zip(grads, variables))
    print(float(loss), float(norm))
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

for _ in range(5):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    variables = tx.trainables(model)
    grads = tape.gradient(loss, variables)
    grads, norm = tf.clip_by_global_norm(grads, 1.0)
    tx.update(opt_state, model, grads)
    print(float(loss), float(norm))
""",
)
