"""Decoupled weight decay: as `AdamW`, as Keras with exclusions, and as TensorFlow Addons."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
import tf_keras

import tfexplicit as tx


def trained(net: Any, rule: Any, steps: int = 60, change: Any = None) -> list[Any]:
    weights = net.variables()
    state = tx.setup(rule, weights)
    after = net.train_with(weights, lambda grads: tx.update(state, weights, grads), steps=steps)
    if change is None:
        return after
    change(state)
    return net.train_with(weights, lambda grads: tx.update(state, weights, grads), steps=steps)


@pytest.mark.parametrize(("dtype", "bound"), [("float32", 1e-5), ("float64", 1e-13)])
def test_adam_then_decay_is_adamw(
    dtype: str, bound: float, network: Any, relative_difference: Callable[..., float]
) -> None:
    schedule = keras.optimizers.schedules.ExponentialDecay(0.01, 50, 0.5)
    for learning_rate in (0.01, schedule):
        chain = tx.Chain(tx.Adam(learning_rate), tx.DecoupledWeightDecay(0.05))
        one = tx.AdamW(learning_rate, weight_decay=0.05)
        ours, theirs = (trained(network(dtype), rule) for rule in (chain, one))
        assert relative_difference(ours, theirs) < bound


def test_adjusting_the_learning_rate_reaches_the_decay(
    network: Any, relative_difference: Callable[..., float]
) -> None:
    chain = tx.Chain(tx.Adam(0.01), tx.DecoupledWeightDecay(0.05))
    one = tx.AdamW(0.01, weight_decay=0.05)
    after = [
        trained(network("float64"), rule, 20, lambda state: tx.adjust(state, learning_rate=0.1))
        for rule in (chain, one)
    ]
    assert relative_difference(*after) < 1e-13


@pytest.mark.parametrize("package", [keras, tf_keras])
def test_decay_with_exclusions_is_that_of_keras(
    package: Any, network: Any, relative_difference: Callable[..., float]
) -> None:
    net = network("float32")
    weights = net.variables()
    optimizer = package.optimizers.SGD(0.01, weight_decay=0.05)
    optimizer.exclude_from_weight_decay(var_names=["w1", "w3"])
    optimizer.build(weights)
    theirs = net.train_with(
        weights, lambda grads: optimizer.apply_gradients(zip(grads, weights, strict=True)), 60
    )
    decay = tx.DecoupledWeightDecay(
        0.05, where=lambda path, leaf: leaf.name not in ("w1:0", "w3:0")
    )
    assert relative_difference(trained(net, tx.Chain(tx.SGD(0.01), decay)), theirs) < 1e-5


def test_a_glob_chooses_what_decays() -> None:
    model = {"dense": {"kernel": tf.Variable([1.0]), "bias": tf.Variable([1.0])}}
    zero = tf.constant([0.0])
    for rule in (
        tx.Chain(tx.SGD(0.5), tx.DecoupledWeightDecay(0.5, where="**/kernel")),
        tx.Chain(tx.WeightDecay(0.5, where="**/kernel"), tx.SGD(0.5)),
    ):
        for leaf in model["dense"].values():
            leaf.assign([1.0])
        state = tx.setup(rule, model)
        tx.update(state, model, {"dense": {"kernel": zero, "bias": zero}})
        assert model["dense"]["kernel"].numpy() == [0.75]
        assert model["dense"]["bias"].numpy() == [1.0]
        with pytest.raises(ValueError, match="no rule here has a hyperparameter 'weight_decay'"):
            tx.adjust(state["dense/bias"], weight_decay=0.1)


def test_decay_may_be_independent_of_the_learning_rate() -> None:
    """`SGDW` of TensorFlow Addons: the leaf decays, then moves by the velocity."""
    rng = np.random.default_rng(0)
    w, velocity = rng.normal(size=3), np.zeros(3)
    leaf = tf.Variable(w)
    decay = tx.DecoupledWeightDecay(0.05, times_learning_rate=False)
    state = tx.setup(tx.Chain(tx.SGD(0.1, momentum=0.9), decay), leaf)
    for _ in range(10):
        grad = rng.normal(size=3)
        tx.update(state, leaf, tf.constant(grad))
        velocity = 0.9 * velocity - 0.1 * grad
        w = w - 0.05 * w + velocity
    np.testing.assert_allclose(leaf.numpy(), w, rtol=1e-13)


def test_decay_follows_the_learning_rate_of_the_part_that_steps_the_leaf() -> None:
    model = {"a": tf.Variable(1.0), "b": tf.Variable(1.0)}
    parts = tx.Partition({"a": tx.SGD(0.5), "b": tx.Chain(tx.ClipByNorm(1.0), tx.SGD(0.25))})
    state = tx.setup(tx.Chain(parts, tx.DecoupledWeightDecay(0.5)), model)
    tx.update(state, model, {"a": tf.constant(0.0), "b": tf.constant(0.0)})
    assert (model["a"].numpy(), model["b"].numpy()) == (0.75, 0.875)


def test_decay_without_a_learning_rate_says_where_it_belongs() -> None:
    leaf = tf.Variable(1.0)
    for rule in (tx.DecoupledWeightDecay(), tx.Chain(tx.DecoupledWeightDecay(), tx.Adam())):
        with pytest.raises(ValueError, match=r"tx.Chain\(tx.Adam\(1e-3\), tx.DecoupledWeight"):
            tx.update(tx.setup(rule, leaf), leaf, tf.constant(1.0))
    with pytest.raises(TypeError, match="`where` must be a path glob"):
        tx.DecoupledWeightDecay(where=3)  # type: ignore[arg-type]
