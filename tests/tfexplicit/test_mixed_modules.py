"""Modules of one framework inside another's, and Sonnet's."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
import pytest
import sonnet as snt
import tensorflow as tf
import tf_keras

import tfexplicit as tx


def paths(model: Any) -> list[str]:
    return [path for path, _ in tx.trainables(model, path=True)]


class Inner(tf.Module):
    def __init__(self, shared: Any) -> None:
        super().__init__()
        self.scale = tf.Variable(1.0)
        self.again = shared


class Mixed(tf.Module):
    """TensorFlow itself finds `offset`, `inner/scale` and the layer of tf_keras."""

    def __init__(self) -> None:
        super().__init__()
        self.offset = tf.Variable(1.0)
        self.blocks = {"in": [keras.layers.Dense(2)], "out": keras.layers.Dense(1)}
        self.inner = Inner(self.blocks["out"])
        self.temperature = keras.Variable(1.0)
        self.count = keras.Variable(0.0, trainable=False)
        self.old = tf_keras.layers.Dense(2)

    def __call__(self, x: Any) -> Any:
        hidden = self.blocks["in"][0](self.old(x) * self.offset)
        return self.blocks["out"](hidden) * self.inner.scale * self.temperature


def test_keras_layers_inside_a_module_follow_what_it_lists_itself() -> None:
    model = Mixed()
    model(tf.ones([1, 3]))
    own = model.trainable_variables
    leaves = tx.trainables(model)
    assert [id(leaf) for leaf in leaves[: len(own)]] == [id(variable) for variable in own]
    assert paths(model)[len(own) :] == [
        "blocks/in/0/kernel",
        "blocks/in/0/bias",
        "blocks/out/kernel",
        "blocks/out/bias",
        "temperature",
    ]
    assert set(paths(model)[: len(own)]) == {"offset", "inner/scale", "old/kernel", "old/bias"}
    state = tx.setup(tx.SGD(0.1), model)
    before = [leaf.numpy() for leaf in leaves]
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(model(tf.ones([2, 3])) + tf.reduce_sum(leaves[-2]))
    tx.update(state, model, tape.gradient(loss, leaves), strict=True)
    assert all((leaf.numpy() != old).any() for leaf, old in zip(leaves, before, strict=True))


def test_a_frozen_keras_layer_is_no_leaf() -> None:
    model = Mixed()
    model(tf.ones([1, 3]))
    model.blocks["in"][0].trainable = False
    assert not any(path.startswith("blocks/in") for path in paths(model))
    assert "blocks/out/kernel" in paths(model)


def test_a_module_with_keras_layers_may_be_built_later() -> None:
    model = Mixed()
    state = tx.setup(tx.Adam(0.1), model)
    with pytest.raises(KeyError, match="not built yet"):
        state["blocks"]
    model(tf.ones([1, 3]))
    assert len(state["blocks"].paths) == 4
    tx.update(state, model, [tf.ones(leaf.shape) for leaf in tx.trainables(model)])


class OwnList(tf.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = keras.layers.Dense(1)
        self.w = tf.Variable(1.0)

    @property
    def trainable_variables(self) -> Any:
        return (self.w,)


def test_a_module_with_a_list_of_its_own_has_the_last_word() -> None:
    model = OwnList()
    model.layer(tf.ones([1, 2]))
    assert paths(model) == ["w"]
    # TensorFlow looks through such a module when another holds it.
    outer = tf.Module()
    outer.part = model
    assert paths(outer) == ["part/w", "part/layer/kernel", "part/layer/bias"]


class Ignoring(tf.Module):
    _TF_MODULE_IGNORED_PROPERTIES = frozenset(("cache", *tf.Module._TF_MODULE_IGNORED_PROPERTIES))

    def __init__(self) -> None:
        super().__init__()
        self.w = tf.Variable(1.0)
        self.cache = {"w": self.w, "layer": keras.layers.Dense(1)}


def test_attributes_that_a_module_ignores_are_ignored() -> None:
    model = Ignoring()
    model.cache["layer"](tf.ones([1, 2]))
    assert paths(model) == ["w"]


def test_sonnet_modules() -> None:
    model = snt.nets.MLP([4, 1])
    state = tx.setup(tx.Adam(0.1), model)
    with pytest.raises(KeyError, match="not built yet"):
        tx.freeze(state)
    x = tf.ones([2, 3])
    losses = [
        float(tx.minimize(lambda model: tf.reduce_sum((model(x) - 5) ** 2), state, model))
        for _ in range(5)
    ]
    assert losses[-1] < losses[0]
    leaves = tx.trainables(model)
    assert [id(leaf) for leaf in leaves] == [id(leaf) for leaf in model.trainable_variables]
    assert paths(model) == ["layers/0/b", "layers/0/w", "layers/1/b", "layers/1/w"]
    assert state.paths == paths(model)


def test_sonnet_steps_as_its_own_optimizer() -> None:
    tf.random.set_seed(0)
    ours, theirs = snt.Linear(2), snt.Linear(2)
    x = tf.constant(np.random.default_rng(0).normal(size=(4, 3)), tf.float32)
    ours(x), theirs(x)
    for a, b in zip(ours.trainable_variables, theirs.trainable_variables, strict=True):
        b.assign(a)
    state, optimizer = tx.setup(tx.Adam(0.01, epsilon=1e-8), ours), snt.optimizers.Adam(0.01)
    for _ in range(20):
        tx.minimize(lambda model: tf.reduce_sum((model(x) - 1) ** 2), state, ours)
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum((theirs(x) - 1) ** 2)
        variables = theirs.trainable_variables
        optimizer.apply(tape.gradient(loss, variables), variables)
    for a, b in zip(ours.trainable_variables, theirs.trainable_variables, strict=True):
        # A step is 0.01; the two put epsilon in different places and round in float32.
        np.testing.assert_allclose(a, b, atol=1e-4)
