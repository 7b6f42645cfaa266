"""TX103: a Keras constructor and the rule that is written for it are the same thing."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import keras
import pytest
from tfexplicit_codemod.analysis.rule_arguments import ARGUMENTS, ONLY_BY_NAME
from tfexplicit_codemod.engine import migrate_source

import tfexplicit as tx

tf_keras = pytest.importorskip("tf_keras")

PROGRAM = """\
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.{constructor}


def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(model(x))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
"""


def constructor_after(constructor: str, program: str = PROGRAM) -> str:
    after = migrate_source(program.format(constructor=constructor).encode(), Path("a.py")).after
    assert after is not None
    tree = ast.parse(after)
    made = next(node for node in tree.body if ast.unparse(node).startswith("optimizer ="))
    return ast.unparse(made).removeprefix("optimizer = ")


@pytest.mark.parametrize("name", ARGUMENTS)
@pytest.mark.parametrize("package", [keras, tf_keras], ids=["keras", "tf_keras"])
def test_the_shared_arguments_have_one_order_and_one_default(name: str, package: object) -> None:
    theirs = inspect.signature(getattr(package.optimizers, name).__init__).parameters  # type: ignore[attr-defined]
    mine = inspect.signature(getattr(tx, name).__init__).parameters
    shared = ARGUMENTS[name]
    assert tuple(theirs)[1 : 1 + len(shared)] == tuple(mine)[1 : 1 + len(shared)] == shared
    for argument in (*shared, *ONLY_BY_NAME.get(name, ())):
        if (name, argument) != ("Lion", "learning_rate"):
            assert theirs[argument].default == mine[argument].default


@pytest.mark.parametrize(
    "constructor",
    [
        "Adam(0.125)",
        "Adam(learning_rate=0.125, amsgrad=True, name='adam')",
        "Adam(0.125, clipnorm=1.0)",
        "AdamW(0.125, weight_decay=0.1, global_clipnorm=1)",
        "Adamax(0.125, 0.8, clipvalue=0.5, clipnorm=None)",
        "Adagrad(0.125, epsilon=1e-06)",
        "Adadelta(1.0, weight_decay=0.004)",
        "RMSprop(0.125, momentum=0.9, centered=True)",
        "Ftrl(0.125, l1_regularization_strength=0.01)",
        "Lion(0.125, clipnorm=2.0, weight_decay=0.01)",
        "SGD(0.125, 0.9, gradient_accumulation_steps=2, clipnorm=1.0, weight_decay=0.01)",
        "SGD(0.125, weight_decay=None)",
    ],
)
def test_it_is_the_rule_that_from_keras_makes(constructor: str) -> None:
    # Learning rates are exact in binary: Keras keeps them in float32.
    after = constructor_after(constructor)
    assert after.startswith("tx.")
    theirs = tx.from_keras(eval(f"keras.optimizers.{constructor}", {"keras": keras}))
    assert repr(eval(after, {"tx": tx})) == repr(theirs)


@pytest.mark.parametrize(
    "constructor",
    [
        "Lion()",
        "Lion(clipnorm=1.0)",
        "Nadam(0.01)",
        "Adam(0.01, 0.9, 0.999, 1e-07, True)",
        "Adam(0.01, epsilon=None)",
        "Adam(0.01, clipnorm=tf.constant(1.0))",
        "Adam(0.01, use_ema=True)",
        "Adam(0.01, jit_compile=False)",
        "Adam(*[0.01])",
        "Adam(**{'clipnorm': 1.0})",
        "legacy.SGD(0.01, clipnorm=1.0)",
        "legacy.SGD(0.01, decay=0.1)",
        "SGD(0.1, clipnorm=\n    1.0,  # as in the paper\n)",
    ],
)
def test_a_keras_object_stays_where_no_rule_is_surely_the_same(constructor: str) -> None:
    kept = ast.unparse(ast.parse(f"tf.keras.optimizers.{constructor}"))
    assert constructor_after(constructor) == kept


def test_clipping_stays_with_keras_where_gradients_may_be_sparse() -> None:
    sparse = PROGRAM.replace("layers.Dense(1)", "layers.Embedding(9, 1)")
    assert constructor_after("SGD(0.1)", sparse) == "tx.SGD(0.1)"
    kept = "tf.keras.optimizers.SGD(0.1, clipnorm=1.0)"
    assert constructor_after("SGD(0.1, clipnorm=1.0)", sparse) == kept


def test_what_counts_every_call_stays_where_there_are_several() -> None:
    twice = PROGRAM + "    optimizer.apply_gradients(zip(grads, model.trainable_variables))\n"
    kept = "tf.keras.optimizers.SGD(0.1, gradient_accumulation_steps=2)"
    assert constructor_after("SGD(0.1, gradient_accumulation_steps=2)", twice) == kept
