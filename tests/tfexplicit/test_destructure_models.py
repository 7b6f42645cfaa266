"""`destructure` on leaves of several dtypes, on Keras models, and for a solver of vectors."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
import tf_keras
from scipy.optimize import minimize

import tfexplicit as tx


@pytest.mark.parametrize(
    ("dtypes", "common"),
    [
        (["float16"], "float16"),
        (["bfloat16", "bfloat16"], "bfloat16"),
        (["float16", "bfloat16"], "float32"),
        (["float16", "float32"], "float32"),
        (["float32", "float64"], "float64"),
        (["float32", "complex64"], "complex64"),
        (["float64", "complex64"], "complex128"),
    ],
)
def test_the_vector_holds_every_leaf(dtypes: list[str], common: str) -> None:
    model = [tf.ones([2], dtype) for dtype in dtypes]
    flat, rebuild = tx.destructure(model)
    assert flat.dtype == common
    assert [part.dtype.name for part in rebuild(flat * 2)] == dtypes
    assert [part.numpy().tolist() for part in rebuild(flat * 2)] == [[2, 2]] * len(dtypes)


def keras_network(package: Any) -> Any:
    return package.Sequential(
        [
            package.layers.Input((2,)),
            package.layers.Dense(3, activation="tanh", name="first"),
            package.layers.BatchNormalization(name="norm"),
            package.layers.Dense(1, name="second"),
        ]
    )


@pytest.mark.parametrize("package", [keras, tf_keras])
def test_a_keras_model_becomes_a_dict_of_its_leaves(package: Any) -> None:
    model = keras_network(package)
    before = tx.params(model)
    flat, rebuild = tx.destructure(model)
    assert len(rebuild) == sum(int(tf.size(leaf)) for leaf in tx.trainables(model))
    again = rebuild(flat + 1.0)
    assert list(again) == ["first", "norm", "second"]
    np.testing.assert_array_equal(again["first"]["kernel"], before["first"]["kernel"] + 1.0)
    tf.nest.map_structure(np.testing.assert_array_equal, tx.params(model), before)
    tx.assign(model, again)
    np.testing.assert_array_equal(tx.destructure(model)[0], flat + 1.0)


def test_lbfgs_from_scipy_trains_a_keras_model() -> None:
    keras.utils.set_random_seed(0)
    model = keras_network(keras)
    rng = np.random.default_rng(0)
    x = tf.constant(rng.normal(size=(32, 2)), tf.float32)
    y = tf.reduce_sum(x**2, 1, keepdims=True)
    flat, rebuild = tx.destructure(model)

    @tf.function
    def loss_and_gradient(vector: Any) -> Any:
        def loss(weights: Any) -> Any:
            return tf.reduce_mean((tx.functional_call(model, rebuild(weights), x)[0] - y) ** 2)

        return tx.value_and_grad(loss)(vector)

    def for_scipy(vector: np.ndarray) -> tuple[float, np.ndarray]:
        value, grad = loss_and_gradient(tf.constant(vector))
        return float(value), grad.numpy()

    start = for_scipy(flat.numpy())[0]
    found = minimize(
        for_scipy, np.float64(flat), jac=True, method="L-BFGS-B", options={"maxiter": 30}
    )
    tx.assign(model, rebuild(found.x))
    assert float(tf.reduce_mean((model(x) - y) ** 2)) == pytest.approx(found.fun, rel=1e-4)
    assert found.fun < 0.1 * start
