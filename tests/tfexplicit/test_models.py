"""Every kind of model: which leaves, in which order, under which paths."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
import tf_keras

import tfexplicit as tx


class Subclassed(keras.Model):
    def __init__(self) -> None:
        super().__init__()
        self.encoder = keras.Sequential([keras.layers.Dense(4), keras.layers.Dense(2)])
        self.heads = [keras.layers.Dense(1), keras.layers.Dense(1)]

    def call(self, x: Any) -> Any:
        hidden = self.encoder(x)
        return self.heads[0](hidden) + self.heads[1](hidden)


class TfKerasSubclassed(tf_keras.Model):
    def __init__(self) -> None:
        super().__init__()
        self.encoder = tf_keras.layers.Dense(4)
        self.decoder = tf_keras.layers.Dense(1)

    def call(self, x: Any) -> Any:
        return self.decoder(self.encoder(x))


class Linear(tf.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = tf.Variable([[1.0]])
        self.bias = tf.Variable([0.0])
        self.count = tf.Variable(0.0, trainable=False)


class Stack(tf.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = [Linear(), Linear()]
        self.named = {"last": Linear()}


def called(model: Any) -> Any:
    model(tf.ones([2, 3]))
    return model


def functional(package: Any) -> Any:
    inputs = package.layers.Input((3,))
    hidden = package.layers.Dense(4, name="first")(inputs)
    hidden = package.layers.BatchNormalization(name="norm")(hidden)
    return package.Model(inputs, package.layers.Dense(1, name="second")(hidden))


LISTED = {
    "keras functional": lambda: functional(keras),
    "keras subclassed": lambda: called(Subclassed()),
    "keras lstm": lambda: keras.Sequential(
        [keras.layers.Input((4, 3)), keras.layers.Bidirectional(keras.layers.LSTM(2))]
    ),
    "keras attention": lambda: _attention(),
    "tf_keras functional": lambda: functional(tf_keras),
    "tf_keras subclassed": lambda: called(TfKerasSubclassed()),
    "tf.Module": Stack,
}


def _attention() -> Any:
    inputs = keras.layers.Input((4, 3))
    return keras.Model(inputs, keras.layers.MultiHeadAttention(2, 2, name="mha")(inputs, inputs))


@pytest.mark.parametrize("kind", LISTED)
def test_leaves_are_exactly_what_the_model_trains(kind: str) -> None:
    model = LISTED[kind]()
    leaves = tx.trainables(model)
    assert [id(leaf) for leaf in leaves] == [id(leaf) for leaf in model.trainable_variables]
    paths = [path for path, _ in tx.trainables(model, path=True)]
    assert len(set(paths)) == len(paths)
    assert not any(path.split("/")[0].startswith("_") for path in paths)


def test_paths_read_as_the_model_is_written() -> None:
    def paths(model: Any) -> list[str]:
        return [path for path, _ in tx.trainables(model, path=True)]

    assert paths(functional(keras))[:4] == [
        "first/kernel",
        "first/bias",
        "norm/gamma",
        "norm/beta",
    ]
    assert paths(functional(tf_keras))[:3] == ["first/kernel", "first/bias", "norm/gamma"]
    subclassed = paths(called(Subclassed()))
    assert [path.split("/")[0] for path in subclassed[:4]] == ["encoder"] * 4
    assert subclassed[4:] == ["heads/0/kernel", "heads/0/bias", "heads/1/kernel", "heads/1/bias"]
    assert paths(called(TfKerasSubclassed())) == [
        "encoder/kernel",
        "encoder/bias",
        "decoder/kernel",
        "decoder/bias",
    ]
    assert sorted(paths(Stack())) == sorted(
        f"{place}/{name}"
        for place in ("layers/0", "layers/1", "named/last")
        for name in ("weight", "bias")
    )
    assert "mha/query_dense/kernel" in paths(LISTED["keras attention"]())


def test_a_single_leaf_is_a_model() -> None:
    variable = tf.Variable([1.0, 2.0], name="image")
    state = tx.setup(tx.SGD(1.0), variable)
    assert state.paths == ["image"]
    tx.update(state, variable, tf.constant([1.0, 1.0]))
    np.testing.assert_array_equal(variable, [0.0, 1.0])
    tensor = tf.constant(1.0)
    _, new = tx.update(tx.setup(tx.SGD(1.0), tensor), tensor, tf.constant(0.25))
    assert float(new) == 0.75
