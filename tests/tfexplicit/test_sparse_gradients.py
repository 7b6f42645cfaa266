"""Sparse gradients: a rule adds up repeated ids; a Keras optimizer trains as Keras does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
import tf_keras

import tfexplicit as tx

IDS = [0, 0, 1]


def slices(ids: list[int]) -> tf.IndexedSlices:
    """Ones in these rows of a 4 x 2 table."""
    return tf.IndexedSlices(tf.ones([len(ids), 2]), tf.constant(ids), tf.constant([4, 2]))


def trained(apply: Callable[[tf.Variable], Callable[[Any], Any]], in_function: bool) -> np.ndarray:
    table = tf.Variable(np.linspace(-1, 1, 8, dtype=np.float32).reshape(4, 2))
    step_with = apply(table)

    def step() -> None:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.gather(table, IDS) ** 2)
        grad = tape.gradient(loss, table)
        assert isinstance(grad, tf.IndexedSlices)
        step_with(grad)

    run = tf.function(step) if in_function else step
    for _ in range(5):
        run()
    return np.asarray(table)


def explicit(rule: Any, merge: bool = False) -> Callable[[tf.Variable], Callable[[Any], Any]]:
    def apply(table: tf.Variable) -> Callable[[Any], Any]:
        state = tx.setup(rule, [table])
        return lambda grad: tx.update(state, [table], [added_up(grad, table) if merge else grad])

    return apply


def added_up(grad: tf.IndexedSlices, table: tf.Variable) -> tf.Tensor:
    """The dense gradient, made by an op that the package does not use."""
    return tf.scatter_nd(grad.indices[:, None], grad.values, table.shape)


def implicit(optimizer: Any) -> Callable[[tf.Variable], Callable[[Any], Any]]:
    return lambda table: lambda grad: optimizer.apply_gradients([(grad, table)])


@pytest.mark.parametrize("in_function", [False, True])
def test_a_rule_gives_the_dense_result(in_function: bool) -> None:
    rule = tx.Chain(tx.ClipByNorm(1.0), tx.Adam(0.1))
    sparse = trained(explicit(rule), in_function)
    dense = trained(explicit(rule, merge=True), in_function)
    np.testing.assert_array_equal(sparse, dense)
    # Keras 3 squares the gradients of a repeated id one by one: a defect that rules do not have.
    theirs = trained(implicit(keras.optimizers.Adam(0.1, clipnorm=1.0)), in_function)
    assert np.max(np.abs(sparse - theirs)) > 1e-3


@pytest.mark.parametrize("in_function", [False, True])
@pytest.mark.parametrize("package", [keras, tf_keras])
def test_a_keras_optimizer_trains_as_before(package: Any, in_function: bool) -> None:
    make = [
        lambda: package.optimizers.Adam(0.1),
        lambda: package.optimizers.Adam(0.1, clipnorm=1.0),
        lambda: package.optimizers.SGD(0.1, momentum=0.9),
    ]
    for optimizer in make:
        ours = trained(explicit(optimizer()), in_function)
        np.testing.assert_array_equal(ours, trained(implicit(optimizer()), in_function))


def test_freezing_and_the_learning_rate_reach_an_optimizer_stepped_by_its_own_update() -> None:
    table = tf.Variable(tf.ones([4, 2]))
    state = tx.setup(keras.optimizers.SGD(0.5), [table])

    @tf.function
    def step() -> None:
        tx.update(state, [table], [slices([0, 0])])

    step()
    np.testing.assert_array_equal(table[0], [0, 0])
    tx.adjust(state, learning_rate=1.0)
    step()
    np.testing.assert_array_equal(table[0], [-2, -2])
    tx.freeze(state)
    step()
    np.testing.assert_array_equal(table[0], [-2, -2])
    assert int(state.step) == 3


def test_what_the_own_update_cannot_do_is_refused() -> None:
    grads = [slices([0])]
    table = tf.Variable(tf.ones([4, 2]))
    state = tx.setup(keras.optimizers.Adam(), [table])
    with pytest.raises(TypeError, match=r"updated: the Keras Adam .* when a gradient is sparse"):
        tx.updated(state, [table], grads)
    tx.update(state, [table], grads)
    with pytest.raises(ValueError, match=r"adjust: the Keras Adam .* beta_1 is fixed"):
        tx.adjust(state, beta_1=0.5)

    other = tx.setup(keras.optimizers.Adam(), [table])
    tx.adjust(other, beta_1=0.5)
    with pytest.raises(ValueError, match=r"does not know what tx\.adjust set"):
        tx.update(other, [table], grads)
