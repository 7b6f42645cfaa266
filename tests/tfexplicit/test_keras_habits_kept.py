"""What Keras does beside its formulas, and `setup` keeps: found by migrating Keras's own tests."""

from __future__ import annotations

import keras
import numpy as np
import pytest
import tensorflow as tf

import tfexplicit as tx

GRADS = [np.float32([[1.0, -2.0]]), np.float32([[0.5, 0.5]])]


def variables() -> list[keras.Variable]:
    """A scale of float8 training, which takes its gradient as its value, and a usual one."""
    scale = keras.Variable(np.float32([[3.0, 4.0]]), name="scale")
    scale.overwrite_with_gradient = True
    return [scale, keras.Variable(np.float32([[1.0, 2.0]]), name="kernel")]


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", "RMSprop"])
def test_a_variable_that_its_gradient_overwrites(name: str) -> None:
    make = getattr(keras.optimizers, name)
    expected, got, optimizer = variables(), variables(), make(0.1)
    opt_state = tx.setup(make(0.1), got)
    for grad in GRADS:
        tensors = [tf.constant(grad)] * 2
        optimizer.apply(tensors, expected)
        tx.update(opt_state, got, tensors)
        for theirs, ours in zip(expected, got, strict=True):
            np.testing.assert_array_equal(ours.numpy(), theirs.numpy())
    assert int(opt_state.step) == len(GRADS)
    assert opt_state["0"].slots == {}


def test_a_rule_says_that_it_does_not_know_such_variables() -> None:
    with pytest.raises(ValueError, match=r"overwrites '0' with its gradient.*keras\.optimizers"):
        tx.setup(tx.Adam(), variables())


@pytest.mark.parametrize("name", ["Adam", "SGD", "Lion"])
def test_an_exclusion_from_decay_after_setup_counts(name: str) -> None:
    got = [keras.Variable(2.0, name="kernel"), keras.Variable(2.0, name="bias")]
    optimizer = getattr(keras.optimizers, name)(1.0, weight_decay=0.004)
    opt_state = tx.setup(optimizer, got)
    optimizer.exclude_from_weight_decay(var_names=["bias"])
    zeros = [tf.zeros([]), tf.zeros([])]
    tx.update(opt_state, got, zeros)
    np.testing.assert_allclose([v.numpy() for v in got], [2.0 * (1 - 0.004), 2.0], rtol=1e-6)
