"""Learning rates of a Keras optimizer that `setup` has taken over: set on it, or by `adjust`."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
import tf_keras

import tfexplicit as tx


@pytest.mark.parametrize("package", [keras, tf_keras])
def test_a_writable_learning_rate_reaches_a_traced_function(package: Any) -> None:
    optimizer = package.optimizers.SGD(1.0)
    variable = tf.Variable(0.0)
    state = tx.setup(optimizer, [variable])
    step = tf.function(lambda: tx.update(state, [variable], [tf.constant(1.0)]) and None)
    step()
    optimizer.learning_rate.assign(0.5)
    step()
    assert float(variable) == -1.5


def test_adjust_on_an_adopted_optimizer_sets_its_own_variable() -> None:
    optimizer = keras.optimizers.Nadam(0.1)
    leaves = [tf.Variable([1.0]), tf.Variable([1.0])]
    state = tx.setup(optimizer, leaves)
    tx.adjust(state, learning_rate=0.5)
    assert float(optimizer.learning_rate.numpy()) == 0.5
    with pytest.raises(ValueError, match="one learning rate for all"):
        tx.adjust(state["0"], learning_rate=0.5)


def test_adjust_on_a_part_leaves_what_joined_later_alone() -> None:
    parts = {name: keras.Sequential([keras.layers.Dense(1)]) for name in ("first", "second")}
    optimizer = keras.optimizers.SGD(0.5)
    state = tx.setup(optimizer, parts)
    for part in parts.values():
        part.build((None, 1))
        tx.update(state, part, [tf.ones_like(v) for v in part.trainable_variables])
    tx.adjust(state["first"], learning_rate=0.25)
    assert float(optimizer.learning_rate) == 0.5
    for part, rate in zip(parts.values(), (0.25, 0.5), strict=True):
        before = [v.numpy() for v in part.trainable_variables]
        tx.update(state, part, [tf.ones_like(v) for v in part.trainable_variables])
        for old, new in zip(before, part.trainable_variables, strict=True):
            np.testing.assert_allclose(old - new.numpy(), rate, rtol=1e-5)
    tx.adjust(state, learning_rate=0.125)
    assert float(optimizer.learning_rate) == 0.125
