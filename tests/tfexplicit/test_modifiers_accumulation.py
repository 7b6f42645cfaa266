"""`AccumulateGrads`: conformance group Q, Keras where it is right, and where it is not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

import tfexplicit as tx


def test_two_rests_then_a_step_with_the_mean() -> None:
    x = tf.Variable(np.array([1.0, 2.0]))
    state = tx.setup(tx.Chain(tx.AccumulateGrads(3), tx.SGD(0.1)), x)
    grads = np.array([[1.0, 2.0], [3.0, -4.0], [5.0, 8.0], [7.0, 7.0]])
    seen = []
    for grad in grads:
        tx.update(state, x, tf.constant(grad))
        seen.append(x.numpy())
    expected = [1.0, 2.0] - 0.1 * grads[:3].mean(axis=0)
    np.testing.assert_array_equal(seen[:2], [[1.0, 2.0]] * 2)
    np.testing.assert_allclose(seen[2:], [expected] * 2)
    np.testing.assert_array_equal(state[state.paths[0]].slots["accumulate_grads/gradient"], [7, 7])


@pytest.mark.parametrize("limit", ["plain", "clipnorm", "global_clipnorm", "schedule"])
def test_accumulation_with_decay_is_that_of_keras(
    limit: str, network: Any, relative_difference: Callable[..., float]
) -> None:
    """Schedules see every micro-step in both."""
    net = network("float32")
    changes = {"clipnorm": {"clipnorm": 0.5}, "global_clipnorm": {"global_clipnorm": 0.5}}
    clips = {"clipnorm": [tx.ClipByNorm(0.5)], "global_clipnorm": [tx.ClipByGlobalNorm(0.5)]}
    learning_rate: Any = 0.01
    if limit == "schedule":
        learning_rate = keras.optimizers.schedules.ExponentialDecay(0.01, 10, 0.7)
    optimizer = keras.optimizers.AdamW(
        learning_rate,
        weight_decay=0.05,
        gradient_accumulation_steps=3,
        **changes.get(limit, {}),
    )
    theirs = net.variables()
    optimizer.build(theirs)
    expected = net.train_with(
        theirs, lambda grads: optimizer.apply_gradients(zip(grads, theirs, strict=True)), 62
    )
    ours = net.variables()
    rule = tx.Chain(
        tx.AccumulateGrads(3),
        *clips.get(limit, []),
        tx.Adam(learning_rate),
        tx.DecoupledWeightDecay(0.05),
    )
    state = tx.setup(rule, ours)
    after = net.train_with(ours, lambda grads: tx.update(state, ours, grads), 62)
    assert relative_difference(after, expected) < 1e-5


def every_modifier_after() -> list[tx.Rule]:
    return [tx.ClipByGlobalNorm(0.3), tx.Adam(0.1), tx.DecoupledWeightDecay(0.1), tx.EMA(0.9)]


def test_later_rules_work_as_if_there_were_one_step_per_real_step() -> None:
    """Keras averages at every micro-step; here clip, moments, decay and average act once."""
    grads = np.random.default_rng(0).normal(size=(6, 2, 3))
    one, other = tf.Variable(np.ones(3)), tf.Variable(np.ones(3))
    micro = tx.setup(tx.Chain(tx.AccumulateGrads(2), *every_modifier_after()), one)
    whole = tx.setup(tx.Chain(*every_modifier_after()), other)
    for pair in grads:
        for grad in pair:
            tx.update(micro, one, tf.constant(grad))
        tx.update(whole, other, tf.constant(pair.mean(axis=0)))
    np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-14)
    whole_slots = whole[whole.paths[0]].slots
    micro_slots = micro[micro.paths[0]].slots
    for name, value in whole_slots.items():
        np.testing.assert_allclose(micro_slots[name], value, rtol=1e-14)
    assert "ema/average" in whole_slots


def test_keras_averages_at_every_micro_step() -> None:
    """The defect: the leaf is averaged in again while it rests."""
    v, w = tf.Variable(1.0), tf.Variable(1.0)
    optimizer = keras.optimizers.SGD(0.5, gradient_accumulation_steps=2, use_ema=True)
    state = tx.setup(tx.Chain(tx.AccumulateGrads(2), tx.SGD(0.5), tx.EMA()), w)
    for _ in range(6):
        optimizer.apply_gradients([(tf.constant(1.0), v)])
        tx.update(state, w, tf.constant(1.0))
    average = 0.5  # The leaf is 0.5, 0 and -0.5 after the three steps.
    for leaf in (0.0, -0.5):
        average = 0.99 * average + 0.01 * leaf
    assert float(tx.ema_params(state, w)) == pytest.approx(average)
    assert float(optimizer._model_variables_moving_average[0]) == pytest.approx(0.48015)
    assert average == pytest.approx(0.48505)


def test_each_leaf_waits_for_its_own_gradients() -> None:
    """In Keras a model that is stepped at every other call would never reach its step."""
    model = (tf.Variable(1.0), tf.Variable(1.0))
    state = tx.setup(tx.Chain(tx.AccumulateGrads(2), tx.SGD(0.5)), model)
    for grad in (1.0, 3.0):
        for leaf in model:
            tx.update(state, leaf, tf.constant(grad))
    assert [leaf.numpy() for leaf in model] == [0.0, 0.0]

    pair = [tf.Variable(1.0), tf.Variable(1.0)]
    state = tx.setup(tx.Chain(tx.AccumulateGrads(2), tx.SGD(0.5)), pair)
    tx.update(state, pair, [tf.constant(1.0), None])
    tx.update(state, pair, [tf.constant(1.0), tf.constant(1.0)])
    assert [leaf.numpy() for leaf in pair] == [0.5, 1.0]
    tx.update(state, pair, [None, tf.constant(3.0)])
    assert [leaf.numpy() for leaf in pair] == [0.5, 0.0]


def test_a_global_norm_after_it_is_that_of_the_leaves_that_step() -> None:
    model = [tf.Variable(0.0), tf.Variable(0.0)]
    state = tx.setup(tx.Chain(tx.AccumulateGrads(2), tx.ClipByGlobalNorm(1.0)), model)
    tx.update(state, model, [tf.constant(3.0), None])
    tx.update(state, model, [tf.constant(3.0), tf.constant(4.0)])
    assert model[0].numpy() == -1.0


def test_rules_before_it_run_at_each_gradient() -> None:
    v = tf.Variable(0.0)
    state = tx.setup(tx.Chain(tx.ClipByValue(1.0), tx.AccumulateGrads(2)), v)
    tx.update(state, v, tf.constant(9.0))
    tx.update(state, v, tf.constant(0.0))
    assert v.numpy() == -0.5


@pytest.mark.parametrize("n", [0, 2.0, True, tf.constant(2)])
def test_the_count_is_an_integer_from_one_on(n: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="AccumulateGrads: `n` must be"):
        tx.AccumulateGrads(n)
