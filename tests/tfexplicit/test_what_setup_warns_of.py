"""What `setup` says of a model without leaves, and of a list that holds a leaf twice."""

from __future__ import annotations

import warnings
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
import tf_keras

import tfexplicit as tx


def dense_model(package: Any) -> Any:
    return package.Sequential([package.layers.Input([2]), package.layers.Dense(1)])


def ones_for(model: Any) -> list[Any]:
    return [tf.ones(leaf.shape) for leaf in tx.trainables(model)]


def test_a_model_without_leaves_is_a_warning_and_an_unbuilt_one_is_not() -> None:
    with pytest.warns(UserWarning, match="no trainable leaves"):
        tx.setup(tx.SGD(), {"a": 1.0, "b": np.arange(3)})
    for package in (keras, tf_keras):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            tx.setup(tx.SGD(), package.Sequential([package.layers.Dense(1)]))


def test_a_model_without_leaves_is_no_step() -> None:
    net, by_keras = dense_model(tf_keras), tf_keras.optimizers.Adam()
    state = tx.setup(tf_keras.optimizers.Adam(), net)
    tx.update(state, net, ones_for(net))
    by_keras.apply_gradients(zip(ones_for(net), net.trainable_variables, strict=True))
    net.trainable = False
    assert tx.update(state, net, []) == (state, net)
    by_keras.apply_gradients(zip(ones_for(net), net.trainable_variables, strict=True))
    assert int(state.step) == int(by_keras.iterations) == 1
    with pytest.raises(ValueError, match="the model has 0 leaves, got 1 gradients"):
        tx.update(state, net, [tf.constant(1.0)])


def test_a_variable_that_a_list_holds_twice_is_a_warning_and_a_shared_layer_is_not() -> None:
    a, b = tf.Variable(1.0), tf.Variable(2.0)
    with pytest.warns(UserWarning, match="holds one variable at 0 and 2. Keras steps it each time"):
        state = tx.setup(tx.SGD(0.5), [a, b, a])
    tx.update(state, [a, b, a], [tf.constant(1.0)] * 3)
    assert (float(a), float(b)) == (0.5, 1.5)
    shared = dense_model(keras)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for model in ((shared, shared.layers[-1]), {"in": a, "out": a}, [[a], [a]]):
            tx.setup(tx.SGD(), model)
