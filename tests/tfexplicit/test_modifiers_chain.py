"""Modifiers of the gradient: groups B (clipping), D (chains), F (dtypes), doctest numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import tfexplicit as tx


def stepped(rule: tx.Rule, start: Any, *grads: Any) -> Any:
    leaf = tf.Variable(np.asarray(start, "float64"))
    state = tx.setup(rule, leaf)
    for grad in grads:
        tx.update(state, leaf, tf.constant(grad, tf.float64))
    return leaf.numpy()


START, GRAD = [1.0, 10.0, 100.0], [1.0, 2.0, 3.0]
CHAINS: list[tuple[tx.Rule, Sequence[float]]] = [
    (tx.WeightDecay(0.1), [-0.1, 7, 87]),
    (tx.SignDecay(0.1), [-0.1, 7.9, 96.9]),
    (tx.ClipByValue(2), [0, 8, 98]),
    (tx.Chain(tx.ClipByValue(2), tx.WeightDecay(0.1)), [-0.1, 7, 88]),
    (tx.Chain(tx.Chain(tx.ClipByValue(2), tx.WeightDecay(0.1))), [-0.1, 7, 88]),
    (tx.Chain(tx.ClipByValue(2), tx.Chain(tx.WeightDecay(0.1))), [-0.1, 7, 88]),
    (tx.Chain(tx.WeightDecay(0.1), tx.ClipByValue(2)), [-0.1, 8, 98]),
    (tx.Chain(tx.SGD(0.1)), [0.9, 9.8, 99.7]),
    (tx.Chain(), [0, 8, 97]),
]


@pytest.mark.parametrize(("rule", "expected"), CHAINS, ids=lambda value: repr(value)[:60])
def test_chain_gives_the_numbers_of_optimisers_jl(rule: tx.Rule, expected: list[float]) -> None:
    np.testing.assert_allclose(stepped(rule, START, GRAD), expected, rtol=1e-15, atol=1e-15)


def test_sign_decay_moves_towards_zero_from_both_sides() -> None:
    after = stepped(tx.SignDecay(0.1), [1, -10, 100], [3, 2, -1])
    np.testing.assert_allclose(after, [-2.1, -11.9, 100.9], rtol=1e-15)


def test_clipping_bounds_values_and_norms() -> None:
    steps = -stepped(tx.ClipByValue(13), [0, 0, 0], [1, 10, 100])
    np.testing.assert_allclose(steps, [1, 10, 13])
    step = -stepped(tx.ClipByNorm(10), [0, 0, 0], [1, 10, 100])
    assert np.linalg.norm(step) == pytest.approx(10, rel=1e-15)
    np.testing.assert_allclose(stepped(tx.ClipByNorm(10), [0, 0], [3, 4]), [-3, -4])


def test_doctest_numbers_of_accumulation_decay_and_freezing() -> None:
    rule = tx.Chain(tx.AccumulateGrads(2), tx.WeightDecay(0.01), tx.SGD(0.1))
    np.testing.assert_allclose(stepped(rule, [1, 2], [33, 0], [0, 444]), [-0.651, -20.202])
    y = tf.Variable(3.0, dtype=tf.float64)
    state = tx.setup(tx.SGD(0.01, momentum=0.9), {"y": y})
    tx.freeze(state)
    tx.update(state, {"y": y}, {"y": tf.constant(100 * np.pi, tf.float64)})
    assert y.numpy() == 3
    tx.thaw(state)
    tx.update(state, {"y": y}, {"y": tf.constant(100 * np.pi, tf.float64)})
    assert y.numpy() == pytest.approx(3 - np.pi)


def test_adaptive_clip_bounds_each_unit_by_its_weights() -> None:
    kernel = np.array([[3.0, 0.0], [4.0, 0.0]])
    grad = np.array([[6.0, 1.0], [8.0, 0.0]])
    step = kernel - stepped(tx.AdaptiveClip(0.1, epsilon=0.01), kernel, grad)
    # Unit 0 weighs 5, so 0.5 of its 10; unit 1 weighs nothing, so epsilon stands for it.
    np.testing.assert_allclose(step, [[0.3, 0.001], [0.4, 0]], rtol=1e-12)
    small = grad / 100
    np.testing.assert_allclose(kernel - stepped(tx.AdaptiveClip(1.0, 1.0), kernel, small), small)
    # A bias is one unit.
    np.testing.assert_allclose(stepped(tx.AdaptiveClip(0.1), [3, 4], [6, 8]), [2.7, 3.6])


def test_adaptive_clip_can_be_differentiated_at_a_zero_gradient() -> None:
    grad = tf.zeros([2, 2])
    with tf.GradientTape() as tape:
        tape.watch(grad)
        weights = tf.ones([2, 2])
        _, after = tx.updated(tx.setup(tx.AdaptiveClip(), weights), weights, grad)
    assert np.isfinite(tape.gradient(after, grad).numpy()).all()


def test_centralize_leaves_no_mean_per_unit() -> None:
    grad = np.random.default_rng(0).normal(size=(3, 3, 2, 4))
    step = -stepped(tx.Centralize(), np.zeros_like(grad), grad)
    np.testing.assert_allclose(step, grad - grad.mean(axis=(0, 1, 2), keepdims=True), atol=1e-15)
    np.testing.assert_array_equal(stepped(tx.Centralize(), [0, 0], [1, 3]), [-1, -3])


MODIFIERS = [
    tx.WeightDecay(0.1),
    tx.SignDecay(0.1),
    tx.AdaptiveClip(0.1),
    tx.Centralize(),
    tx.SkipNonFinite(),
    tx.LossScale(4.0),
    tx.Chain(tx.SGD(0.1, momentum=0.9), tx.DecoupledWeightDecay(0.1)),
    tx.Chain(tx.AccumulateGrads(2), tx.SGD(0.1, momentum=0.9)),
    tx.Chain(tx.SGD(0.1), tx.EMA(0.9), tx.Lookahead(2)),
    tx.Chain(tx.SGD(0.1), tx.SWA(0, 2)),
    tx.Chain(tx.SGD(0.1), tx.MovingAverage(0.9, dynamic_decay=True)),
]


@pytest.mark.parametrize("rule", MODIFIERS, ids=repr)
def test_group_f_leaves_and_slots_keep_their_dtypes(rule: tx.Rule) -> None:
    dtypes = {"half": "float16", "brain": "bfloat16", "single": "float32", "double": "float64"}
    values: Any = {name: tf.ones([2, 2], dtype) for name, dtype in dtypes.items()}
    values["complex"] = tf.ones([2, 2], tf.complex64)
    state: Any = tx.setup(rule, values)
    before = {path: {n: s.dtype for n, s in state[path].slots.items()} for path in state}
    for _ in range(2):
        grads = {name: value / 2 for name, value in values.items()}
        state, values = tx.updated(state, values, grads)
    for name, dtype in {**dtypes, "complex": "complex64"}.items():
        assert values[name].dtype == dtype
        assert {n: s.dtype for n, s in state[name].slots.items()} == before[name]
        assert np.isfinite(np.abs(values[name].numpy().astype("complex128"))).all()
