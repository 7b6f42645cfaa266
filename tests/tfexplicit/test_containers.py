"""Containers of leaves: by name, rebuilt, tied and in circles."""

from __future__ import annotations

import collections
import dataclasses
from typing import Any, NamedTuple

import keras
import numpy as np
import pytest
import tensorflow as tf
import tf_keras

import tfexplicit as tx


class Pair(NamedTuple):
    w: Any
    b: Any


@dataclasses.dataclass
class Block:
    kernel: Any
    name: str = "block"


@dataclasses.dataclass(frozen=True)
class FrozenBlock:
    kernel: Any


def test_containers_hold_leaves_by_key_index_and_field() -> None:
    w, b = tf.Variable([1.0]), tf.constant([2.0])
    model = {
        "layers": [Pair(w, b), Block(np.ones(2))],
        "frozen": FrozenBlock(tf.Variable(1.0)),
        "ordered": collections.OrderedDict(z=tf.constant(3.0), a=tf.Variable(1j)),
        "not leaves": (1.0, 2, "text", None, abs, np.arange(3), tf.constant(1), True),
        "not trained": tf.Variable(1.0, trainable=False),
        "objects": np.array([object()]),
    }
    assert [path for path, _ in tx.trainables(model, path=True)] == [
        "layers/0/w",
        "layers/0/b",
        "layers/1/kernel",
        "frozen/kernel",
        "ordered/z",
        "ordered/a",
    ]


def test_update_rebuilds_what_holds_arrays_and_leaves_the_rest() -> None:
    variable = tf.Variable(1.0)
    only_variables = [variable]
    model = {
        "pair": Pair(tf.constant([1.0]), "kept"),
        "block": Block(np.ones(2, np.float32)),
        "frozen": FrozenBlock(tf.constant(1.0)),
        "same": only_variables,
    }
    grads = {
        "pair": Pair(tf.constant([1.0]), None),
        "block": Block(np.ones(2, np.float32)),
        "frozen": FrozenBlock(tf.constant(2.0)),
        "same": [tf.constant(4.0)],
    }
    _, new = tx.update(tx.setup(tx.SGD(0.5), model), model, grads)
    assert isinstance(new["pair"], Pair)
    assert new["pair"].b == "kept"
    np.testing.assert_array_equal(new["pair"].w, [0.5])
    assert isinstance(new["block"].kernel, np.ndarray)
    np.testing.assert_array_equal(new["block"].kernel, [0.5, 0.5])
    assert isinstance(new["frozen"], FrozenBlock)
    assert float(new["frozen"].kernel) == 0.0
    assert new["same"] is only_variables
    assert float(variable) == -1.0
    np.testing.assert_array_equal(model["block"].kernel, [1.0, 1.0])


def test_tied_leaves_have_one_slot_set_and_one_step() -> None:
    shared = tf.Variable([1.0])
    model = {"embed": shared, "head": {"w": shared}, "b": tf.Variable([1.0])}
    state = tx.setup(tx.SGD(0.1, momentum=0.9), model)
    assert state.paths == ["embed", "b"]
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(shared * shared) + tf.reduce_sum(model["b"])
    grads = tape.gradient(loss, model)
    tx.update(state, model, grads)
    np.testing.assert_allclose(shared, [0.8])
    tx.update(state, model, {"embed": None, "head": {"w": tf.constant([0.0])}, "b": None})
    np.testing.assert_allclose(shared, [0.8 - 0.18], rtol=1e-6)


def test_a_tie_of_arrays_is_kept_in_the_result() -> None:
    array = tf.constant([1.0])
    model = [array, {"again": array}]
    _, new = tx.update(tx.setup(tx.SGD(0.5), model), model, [tf.constant([1.0])] * 1)
    assert new[0] is new[1]["again"]


def test_cycles_end() -> None:
    model: dict[str, Any] = {"w": tf.constant([1.0])}
    model["self"] = model
    model["list"] = [model, tf.Variable([1.0])]
    state = tx.setup(tx.SGD(0.5), model)
    assert state.paths == ["w", "list/1"]
    _, new = tx.update(state, model, {"w": tf.constant([1.0]), "list/1": tf.constant([2.0])})
    assert new["self"] is new
    assert new["list"][0] is new
    np.testing.assert_array_equal(new["w"], [0.5])
    np.testing.assert_array_equal(new["list"][1], [0.0])


@pytest.mark.parametrize("make", [tx.SGD, keras.optimizers.SGD, tf_keras.optimizers.SGD])
def test_a_list_of_variables_says_itself_what_is_trained(make: Any) -> None:
    """As for an optimizer of Keras: `trainable` is about what a tape watches by itself."""
    watched = tf.Variable(3.0, trainable=False)
    model = [tf.Variable([1.0, 2.0]), watched]
    state = tx.setup(make(0.5), model)
    assert tx.trainables(model) == model
    with tf.GradientTape() as tape:
        tape.watch(watched)
        loss = tf.reduce_sum(model[0] ** 2) * watched
    tx.update(state, model, tape.gradient(loss, model))
    assert float(watched) == 3.0 - 0.5 * 5.0


@pytest.mark.parametrize("owner", [tf.Module, keras.layers.Layer, tf_keras.layers.Layer])
@pytest.mark.parametrize("kind", [list, tuple])
def test_a_list_that_is_an_attribute_of_a_module_does_so_too(owner: Any, kind: Any) -> None:
    """TensorFlow and Keras wrap it; their optimizers step what it names all the same."""
    module = owner()
    module.kept = kind([tf.Variable([1.0, 2.0]), tf.Variable(3.0, trainable=False)])
    state = tx.setup(tx.SGD(0.5), module.kept)
    tx.update(state, module.kept, [tf.constant([1.0, 1.0]), tf.constant(1.0)])
    assert [value.numpy().tolist() for value in module.kept] == [[0.5, 1.5], 2.5]


def test_a_namedtuple_in_a_module_trains_what_is_trainable() -> None:
    module = tf.Module()
    module.kept = Pair(tf.Variable(1.0), tf.Variable(2.0, trainable=False))
    assert tx.trainables(module.kept) == tx.trainables(Pair(*module.kept)) == [module.kept.w]
