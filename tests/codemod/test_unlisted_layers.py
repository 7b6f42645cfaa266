"""A `tf.Module` with Keras layers: what TensorFlow lists is less than what `setup` steps."""

from __future__ import annotations

from pathlib import Path

import pytest
import tensorflow as tf
from tfexplicit_codemod.engine import migrate_source

import tfexplicit as tx

CLASS = """\
import tensorflow as tf


class Net(tf.Module):
    def __init__(self{parameter}):
        super().__init__()
        self.scale = tf.Variable(1.0)
        {layers}


net = Net({argument})
optimizer = tf.keras.optimizers.Adam(0.1)
grads = tape.gradient(loss, net.trainable_variables)
optimizer.apply_gradients(zip(grads, net.trainable_variables))
"""
HIDING = {
    "layer": ("self.dense = tf.keras.layers.Dense(1)", ""),
    "list": ("self.all = [tf.keras.layers.Dense(n) for n in (1, 2)]", ""),
    "given": ("self.dense = dense", "tf.keras.layers.Dense(1)"),
}


@pytest.mark.parametrize("name", HIDING)
def test_such_a_module_is_left(name: str) -> None:
    layers, argument = HIDING[name]
    parameter = ", dense" if argument else ""
    program = CLASS.format(parameter=parameter, layers=layers, argument=argument)
    (site,) = migrate_source(program.encode(), Path("module.py")).sites
    assert site.code == "TX206"
    assert "may not list the Keras layers that `Net` holds" in site.reason


def test_a_module_within_a_module_is_left() -> None:
    program = CLASS.format(
        parameter="", layers="self.dense = tf.keras.layers.Dense(1)", argument=""
    )
    outer = "class Outer(tf.Module):\n    def __init__(self):\n        self.net = Net()\n\n\nnet = "
    program = program.replace("net = Net()", f"{outer}Outer()")
    (site,) = migrate_source(program.encode(), Path("module.py")).sites
    assert site.code == "TX206"


@pytest.mark.parametrize(
    ("layers", "base"),
    [
        ("self.bias = tf.Variable(0.0)", "tf.Module"),
        ("self.dense = tf.keras.layers.Dense(1)", "tf.keras.Model"),
        (
            "self.dense = tf.keras.layers.Dense(1)\n\n"
            "    @property\n    def trainable_variables(self):\n        return [self.scale]",
            "tf.Module",
        ),
    ],
    ids=["no_layers", "keras_model", "own_list"],
)
def test_others_are_rewritten(layers: str, base: str) -> None:
    program = CLASS.format(parameter="", layers=layers, argument="").replace("tf.Module", base)
    (site,) = migrate_source(program.encode(), Path("module.py")).sites
    assert site.code == "TX101"


def test_what_tensorflow_lists() -> None:
    module = tf.Module()
    module.scale = tf.Variable(1.0)
    module.dense = tf.keras.layers.Dense(1)
    module.dense.build((None, 2))
    assert (len(module.trainable_variables), len(tx.trainables(module))) == (1, 3)
