"""TX105: one optimizer for several models becomes one state over a tuple of them."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tfexplicit_codemod.registry import Rule

if TYPE_CHECKING:
    from tfexplicit_codemod.analysis.source import Source
    from tfexplicit_codemod.analysis.variables import Part


def together(lists: Sequence[Sequence[Part]]) -> list[Part]:
    """Every part that any site updates, each once, in the order of the sites."""
    parts = {part.identity: part for parts in reversed(lists) for part in reversed(parts)}
    in_order = [part.identity for parts in lists for part in parts]
    return [parts[identity] for identity in dict.fromkeys(in_order)]


def model_code(source: Source, parts: Sequence[Part], after: ast.stmt) -> str:
    """The model argument of `setup`, written for the place where `setup` stands."""
    texts = [_part_code(source, part, after) for part in parts]
    return texts[0] if len(texts) == 1 else f"({', '.join(texts)})"


def _part_code(source: Source, part: Part, after: ast.stmt) -> str:
    names = [reference.code_at(source, after) for reference in part.references]
    return names[0] if part.is_model or part.is_named_list else f"[{', '.join(names)}]"


rule = Rule(
    code="TX105",
    name="several-models",
    summary="One optimizer for several models becomes one state over a tuple of models.",
    why=(
        "One optimizer for several models counts its steps once for all of them, and Adam's "
        "bias correction and every schedule follow that count. So there is one state over a "
        "tuple of the models, not one state each. Models that are updated apart share it: "
        "`tx.update(opt_state, critic, grads)`."
    ),
    before="""\
import tensorflow as tf

tf.keras.utils.set_random_seed(1)
x = tf.random.normal((32, 4))
y = tf.reduce_sum(x, axis=1, keepdims=True)
encoder = tf.keras.Sequential([tf.keras.layers.Dense(2, "tanh")])
decoder = tf.keras.Sequential([tf.keras.layers.Dense(4)])
optimizer = tf.keras.optimizers.Adam(0.01)


@tf.function
def train_step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(decoder(encoder(x)) - x))
    grads = tape.gradient(loss, encoder.trainable_variables + decoder.trainable_variables)
    optimizer.apply_gradients(
        zip(grads, encoder.trainable_variables + decoder.trainable_variables)
    )
    return loss


for _ in range(5):
    print(float(train_step(x)))
""",
    after="""\
import tensorflow as tf
import tfexplicit as tx

tf.keras.utils.set_random_seed(1)
x = tf.random.normal((32, 4))
y = tf.reduce_sum(x, axis=1, keepdims=True)
encoder = tf.keras.Sequential([tf.keras.layers.Dense(2, "tanh")])
decoder = tf.keras.Sequential([tf.keras.layers.Dense(4)])
optimizer = tx.Adam(0.01)
opt_state = tx.setup(optimizer, (encoder, decoder))


@tf.function
def train_step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(decoder(encoder(x)) - x))
    grads = tape.gradient(loss, tx.trainables((encoder, decoder)))
    tx.update(opt_state, (encoder, decoder), grads)
    return loss


for _ in range(5):
    print(float(train_step(x)))
""",
)
