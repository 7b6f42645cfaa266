"""`EMA`, `MovingAverage`, `SWA` and `Lookahead`, and reading the averages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
import tf_keras

import tfexplicit as tx

GRADS = np.random.default_rng(3).normal(size=(12, 2))
START = np.array([1.0, -2.0])


def trajectory(rule: tx.Rule) -> tuple[list[Any], list[Any]]:
    """The leaf, and its average, after each step."""
    leaf = tf.Variable(START)
    state = tx.setup(rule, leaf)
    leaves, averages = [], []
    for grad in GRADS:
        tx.update(state, leaf, tf.constant(grad))
        leaves.append(leaf.numpy())
        slots = state[state.paths[0]].slots
        averages += [slots[name].numpy() for name in slots if name.endswith("average")]
    return leaves, averages


PLAIN = START - 0.1 * np.cumsum(GRADS, axis=0)


@pytest.mark.parametrize("frequency", [None, 4])
def test_ema_is_that_of_keras(
    frequency: int | None, network: Any, relative_difference: Callable[..., float]
) -> None:
    net = network("float32")
    optimizer = keras.optimizers.Adam(
        0.01, use_ema=True, ema_momentum=0.9, ema_overwrite_frequency=frequency
    )
    theirs = net.variables()
    optimizer.build(theirs)
    expected = net.train_with(
        theirs, lambda grads: optimizer.apply_gradients(zip(grads, theirs, strict=True)), 50
    )
    ours = net.variables()
    state = tx.setup(tx.Chain(tx.Adam(0.01), tx.EMA(0.9, overwrite_frequency=frequency)), ours)
    after = net.train_with(ours, lambda grads: tx.update(state, ours, grads), 50)
    assert relative_difference(after, expected) < 1e-5
    averages = [average.numpy() for average in tx.ema_params(state, ours)]
    kept = [average.numpy() for average in optimizer._model_variables_moving_average]
    assert relative_difference(averages, kept) < 1e-5


def test_moving_average_is_the_ema_of_tf_keras(
    network: Any, relative_difference: Callable[..., float]
) -> None:
    """Which averages the first weights in, where Keras 3 starts at the second."""
    net = network("float32")
    optimizer = tf_keras.optimizers.SGD(0.01, use_ema=True, ema_momentum=0.9, jit_compile=False)
    theirs = net.variables()
    optimizer.build(theirs)
    for grads in ([tf.fill(w.shape, float(step)) for w in theirs] for step in range(5)):
        optimizer.apply_gradients(zip(grads, theirs, strict=True))
    ours = net.variables()
    state = tx.setup(tx.Chain(tx.SGD(0.01), tx.MovingAverage(0.9)), ours)
    for grads in ([tf.fill(w.shape, float(step)) for w in ours] for step in range(5)):
        tx.update(state, ours, grads)
    averages = [average.numpy() for average in tx.ema_params(state, ours)]
    kept = [average.numpy() for average in optimizer._model_variables_moving_average]
    assert relative_difference(averages, kept) < 1e-5


def test_moving_average_starts_as_in_tensorflow_addons() -> None:
    average, expected = START, []
    for step, leaf in enumerate(PLAIN):
        decay = 0.0 if step < 3 else min(0.6, (1 + step - 3) / (10 + step - 3))
        average = decay * average + (1 - decay) * leaf
        expected.append(average)
    rule = tx.Chain(tx.SGD(0.1), tx.MovingAverage(0.6, start_step=3, dynamic_decay=True))
    np.testing.assert_allclose(trajectory(rule)[1], expected, rtol=1e-13)

    _, plain = trajectory(tx.Chain(tx.SGD(0.1), tx.MovingAverage(0.9)))
    np.testing.assert_allclose(plain[0], 0.9 * START + 0.1 * PLAIN[0], rtol=1e-13)


def test_swa_is_the_mean_of_the_snapshots_of_tensorflow_addons() -> None:
    leaves, averages = trajectory(
        tx.Chain(tx.SGD(0.1), tx.SWA(start_averaging=2, average_period=4))
    )
    np.testing.assert_allclose(leaves, PLAIN, rtol=1e-13)
    # Taken when the count before the step is 2, 6, 10.
    expected = [0 * START] * 2 + [PLAIN[2]] * 4 + [PLAIN[[2, 6]].mean(axis=0)] * 4
    expected += [PLAIN[[2, 6, 10]].mean(axis=0)] * 2
    np.testing.assert_allclose(averages, expected, rtol=1e-13)


def test_lookahead_goes_back_as_in_tensorflow_addons() -> None:
    fast, slow, expected = START, START, []
    for step, grad in enumerate(GRADS, 1):
        fast = fast - 0.1 * grad
        if step % 5 == 0:
            slow = slow + 0.25 * (fast - slow)
            fast = slow
        expected.append(fast)
    leaves, _ = trajectory(tx.Chain(tx.SGD(0.1), tx.Lookahead(5, slow_step_size=0.25)))
    np.testing.assert_allclose(leaves, expected, rtol=1e-13)


def test_averages_mirror_the_model() -> None:
    dense = tf.keras.Sequential([tf.keras.Input((1,)), tf.keras.layers.Dense(1, name="dense")])
    model = {"net": dense, "scale": tf.Variable(1.0), "name": "x"}
    state = tx.setup(tx.Chain(tx.SGD(0.5), tx.EMA(0.5)), model)
    start = tx.ema_params(state, model)
    assert start["name"] == "x"
    assert start["scale"].numpy() == 1.0
    assert list(start["net"]["dense"]) == ["kernel", "bias"]
    for _ in range(2):
        tx.update(state, model, [tf.ones_like(leaf) for leaf in tx.trainables(model)])
    averages = tx.ema_params(state, model)
    assert averages["scale"].numpy() == 0.25
    assert model["scale"].numpy() == 0.0
    assert averages["net"]["dense"]["bias"].numpy() == [-0.75]
    assert tx.ema_params(state["net"], dense)["dense"]["bias"].numpy() == [-0.75]


def test_a_leaf_without_an_average_gives_its_value() -> None:
    model = {"a": tf.Variable(1.0), "b": tf.Variable(1.0)}
    rule = tx.Partition({"a": tx.Chain(tx.SGD(0.5), tx.EMA(0.5)), "b": tx.SGD(0.5)})
    state = tx.setup(rule, model)
    for _ in range(2):
        tx.update(state, model, {"a": tf.constant(1.0), "b": tf.constant(1.0)})
    averages = tx.ema_params(state, model)
    assert (averages["a"].numpy(), averages["b"].numpy()) == (0.25, 0.0)


def test_averages_that_cannot_be_meant_raise() -> None:
    v = tf.Variable(1.0)
    with pytest.raises(ValueError, match="no rule of this state keeps averages"):
        tx.ema_params(tx.setup(tx.SGD(), v), v)
    with pytest.raises(ValueError, match=r"slots\['ema/average'\]"):
        tx.ema_params(tx.setup(tx.Chain(tx.SGD(), tx.EMA(), tx.SWA()), v), v)
    with pytest.raises(TypeError, match="swapped"):
        tx.ema_params(v, tx.setup(tx.SGD(), v))


@pytest.mark.parametrize("rule", [tx.EMA, tx.Lookahead, tx.SWA, tx.MovingAverage])
def test_an_average_starts_when_its_leaf_does(rule: Any) -> None:
    """Weights that are loaded after `setup` and before the first step count; frozen leaves wait."""
    model = {"a": tf.Variable(1.0), "b": tf.Variable(1.0)}
    state = tx.setup(tx.Chain(tx.SGD(0.5), rule()), model)
    tx.freeze(state["b"])
    zero = {"a": tf.constant(0.0), "b": tf.constant(0.0)}
    tx.update(state, model, zero)
    for leaf in model.values():
        leaf.assign(7.0)
    tx.thaw(state)
    tx.update(state, model, zero)
    (slot,) = state["b"].slots.values()
    assert slot.numpy() == pytest.approx(7.0, rel=1e-6)
