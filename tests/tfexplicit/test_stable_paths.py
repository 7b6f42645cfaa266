"""Paths of models with automatic layer names: the same however many models there are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
import tf_keras

import tfexplicit as tx

PACKAGES = [keras, tf_keras]


def sequential(package: Any) -> Any:
    return package.Sequential(
        [
            package.layers.Input((4, 4, 1)),
            package.layers.Conv2D(2, 2, activation=tf.nn.relu),
            package.layers.Flatten(),
            package.layers.Dense(3),
            package.layers.Dense(3, name="middle"),
            package.layers.Dense(1),
        ]
    )


def functional(package: Any) -> Any:
    inputs = package.layers.Input((3,))
    branches = [package.layers.Dense(2)(inputs), package.layers.Dense(2)(inputs)]
    return package.Model(inputs, package.layers.Concatenate()(branches))


def nested(package: Any) -> Any:
    inputs = package.layers.Input((3,))
    hidden = functional(package)(inputs)
    return package.Model(inputs, package.layers.Dense(1)(functional(package)(hidden[:, :3])))


def paths(model: Any) -> list[str]:
    return [path for path, _ in tx.trainables(model, path=True)]


@pytest.mark.parametrize("package", PACKAGES)
@pytest.mark.parametrize("make", [sequential, functional, nested])
def test_a_model_made_again_has_the_same_paths(make: Any, package: Any) -> None:
    first = make(package)
    package.layers.Dense(1)
    second = make(package)
    assert [layer.name for layer in first.layers] != [layer.name for layer in second.layers]
    assert paths(first) == paths(second)
    assert len(set(paths(first))) == len(first.trainable_variables)


@pytest.mark.parametrize("package", PACKAGES)
def test_automatic_names_are_numbered_within_their_model(package: Any) -> None:
    kernels = [path for path in paths(sequential(package)) if path.endswith("kernel")]
    assert kernels == ["conv2d/kernel", "dense/kernel", "middle/kernel", "dense_1/kernel"]
    outer = "functional" if package is keras else "model"
    assert [path for path in paths(nested(package)) if path.endswith("kernel")] == [
        f"{outer}/dense/kernel",
        f"{outer}/dense_1/kernel",
        f"{outer}_1/dense/kernel",
        f"{outer}_1/dense_1/kernel",
        "dense/kernel",
    ]


class Block2(keras.layers.Layer):
    def build(self, shape: Any) -> None:
        self.w = self.add_weight(shape=(), name="w")

    def call(self, x: Any) -> Any:
        return x * self.w


def test_names_that_a_user_chose_stay() -> None:
    Block2()
    layers = [
        keras.layers.Dense(2, name="dense_out"),
        Block2(),
        keras.layers.Dense(2, name="block2"),
        Block2(),
        keras.layers.Dense(2, name="layer_7"),
    ]
    model = keras.Sequential([keras.layers.Input((2,)), *layers])
    assert [path for path in paths(model) if path.endswith(("kernel", "w"))] == [
        "dense_out/kernel",
        "block2_1/w",
        "block2/kernel",
        "block2_2/w",
        "layer_7/kernel",
    ]


@pytest.mark.parametrize("package", PACKAGES)
def test_a_saved_state_restores_in_another_model_of_the_same_kind(
    package: Any, tmp_path: Path
) -> None:
    first = sequential(package)
    state = tx.setup(tx.Adam(0.1), first)
    tx.update(state, first, [tf.fill(v.shape, 0.5) for v in tx.trainables(first)])
    saved = tf.train.Checkpoint(opt_state=state).save(str(tmp_path / "state"))
    second = sequential(package)
    other = tx.setup(tx.Adam(0.1), second)
    tf.train.Checkpoint(opt_state=other).restore(saved).assert_consumed()
    assert int(other.step) == 1
    for path in state.paths:
        for name, slot in state[path].slots.items():
            np.testing.assert_array_equal(slot, other[path].slots[name])
    assert float(tf.reduce_max(other["dense_1/kernel"].slots["momentum"])) > 0


def test_a_model_that_is_saved_and_loaded_keeps_its_paths(tmp_path: Path) -> None:
    model = sequential(keras)
    model.layers[0].activation = keras.activations.relu
    model.save(tmp_path / "model.keras")
    assert paths(keras.models.load_model(tmp_path / "model.keras")) == paths(model)
    assert paths(keras.models.clone_model(model)) == paths(model)


def test_a_layer_between_two_models_has_the_path_of_the_first() -> None:
    embedding = keras.layers.Dense(3, name="shared")
    encoder = keras.Sequential([keras.layers.Input((3,)), embedding])
    decoder = keras.Sequential([keras.layers.Input((3,)), embedding, keras.layers.Dense(1)])
    model = {"encoder": encoder, "decoder": decoder, "same": embedding.kernel}
    state = tx.setup(tx.SGD(1.0, momentum=0.5), model)
    assert state.paths == [
        "encoder/shared/kernel",
        "encoder/shared/bias",
        "decoder/dense/kernel",
        "decoder/dense/bias",
    ]
    before = embedding.kernel.numpy()
    grads = tx.grad(lambda model: tf.reduce_sum(model["decoder"](tf.ones([1, 3]))))(model)
    expected = grads["encoder"]["shared"]["kernel"].numpy()
    tx.update(state, model, grads)
    np.testing.assert_allclose(before - embedding.kernel.numpy(), expected, rtol=1e-5, atol=1e-6)
