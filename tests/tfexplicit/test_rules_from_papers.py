"""Formulas of the papers in NumPy, and numbers from the tests of TensorFlow Addons."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import tfexplicit as tx

Array = np.ndarray
# Each yields the leaf after every step; the gradients do not depend on the leaf.
Trajectory = Callable[..., Iterator[Array]]


def radam(x: Array, grads: Array, eps: float, threshold: float, decay: float) -> Iterator[Array]:
    m, v, rho_inf = 0.0, 0.0, 2 / (1 - 0.999) - 1
    for t, g in enumerate(grads, 1):
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + (1 - 0.999) * g**2
        m_hat, v_hat = m / (1 - 0.9**t), v / (1 - 0.999**t)
        rho = rho_inf - 2 * t * 0.999**t / (1 - 0.999**t)
        if rho >= threshold:
            top, bottom = (rho - 4) * (rho - 2) * rho_inf, (rho_inf - 4) * (rho_inf - 2) * rho
            m_hat = np.sqrt(top / bottom) * m_hat / (np.sqrt(v_hat) + eps)
        x = x - 0.001 * (m_hat + decay * x)
        yield x


def adabelief_amsgrad(x: Array, grads: Array, eps: float) -> Iterator[Array]:
    m, s, top = 0.0, 0.0, 0.0
    for t, g in enumerate(grads, 1):
        m = 0.9 * m + 0.1 * g
        s = 0.999 * s + (1 - 0.999) * (g - m) ** 2 + eps
        top = np.maximum(top, s)
        x = x - 0.001 * m / (1 - 0.9**t) / (np.sqrt(top / (1 - 0.999**t)) + eps)
        yield x


def novograd(x: Array, grads: Array, decay: float, averaging: bool) -> Iterator[Array]:
    m = v = np.zeros(())
    for t, g in enumerate(grads, 1):
        v = np.sum(g**2) if t == 1 else 0.999 * v + (1 - 0.999) * np.sum(g**2)
        d = g / (np.sqrt(v) + 1e-7) + decay * x
        m = d if t == 1 else 0.9 * m + (0.1 * d if averaging else d)
        x = x - 0.001 * m
        yield x


def yogi(x: Array, grads: Array, l1: float, l2: float, sign: Callable[[Any], Any]) -> Any:
    m, v = 0.0, np.full_like(x, 1e-6)
    for t, g in enumerate(grads, 1):
        m, v = 0.9 * m + 0.1 * g, v - (1 - 0.999) * sign(v - g**2) * g**2
        rate = 0.01 * np.sqrt(1 - 0.999**t) / (1 - 0.9**t) / (np.sqrt(v) + 1e-3)
        x = x - rate * m
        x = np.sign(x) * np.maximum(np.abs(x) - rate * l1, 0) / (1 + rate * l2)
        yield x


def conditional_gradient(x: Array, grads: Array, nuclear: bool) -> Iterator[Array]:
    for g in grads:
        vertex = g / (np.linalg.norm(g) + 1e-7)
        if nuclear and g.ndim == 2:
            u, _, v = np.linalg.svd(g)
            vertex = np.outer(u[:, 0], v[0])
        x = 0.9 * x + 0.1 * (-2.0 * vertex)
        yield x


def cocob(x: Array, grads: Array, alpha: float) -> Iterator[Array]:
    start = x
    largest = sizes = rewards = total = np.zeros_like(x)
    for g in grads:
        largest, sizes = np.maximum(largest, np.abs(g)), sizes + np.abs(g)
        rewards, total = np.maximum(rewards - g * (x - start), 0), total + g
        beta = total / (largest * np.maximum(sizes + largest, alpha * largest))
        x = start - beta * (largest + rewards)
        yield x


PAPERS: dict[str, tuple[tx.Rule, Trajectory, dict[str, Any]]] = {
    "radam": (tx.RAdam(), radam, {"eps": 1e-7, "threshold": 5.0, "decay": 0.0}),
    "radam with decay": (
        tx.RAdam(weight_decay=0.1, sma_threshold=8.0),
        radam,
        {"eps": 1e-7, "threshold": 8.0, "decay": 0.1},
    ),
    "adabelief amsgrad": (
        tx.AdaBelief(rectify=False, amsgrad=True, epsilon=1e-8),
        adabelief_amsgrad,
        {"eps": 1e-8},
    ),
    "novograd": (tx.NovoGrad(), novograd, {"decay": 0.0, "averaging": False}),
    "novograd averaging": (
        tx.NovoGrad(weight_decay=0.1, grad_averaging=True),
        novograd,
        {"decay": 0.1, "averaging": True},
    ),
    "yogi": (tx.Yogi(), yogi, {"l1": 0.0, "l2": 0.0, "sign": np.sign}),
    "yogi tanh": (
        tx.Yogi(activation="tanh"),
        yogi,
        {"l1": 0.0, "l2": 0.0, "sign": lambda v: np.tanh(10 * v)},
    ),
    "yogi with penalties": (
        tx.Yogi(l1_regularization_strength=0.5, l2_regularization_strength=0.2),
        yogi,
        {"l1": 0.5, "l2": 0.2, "sign": np.sign},
    ),
    "conditional gradient": (
        tx.ConditionalGradient(0.9, lambda_=2.0),
        conditional_gradient,
        {"nuclear": False},
    ),
    "conditional gradient, nuclear": (
        tx.ConditionalGradient(0.9, lambda_=2.0, ord="nuclear", epsilon=1e-7),
        conditional_gradient,
        {"nuclear": True},
    ),
    "cocob": (tx.COCOB(), cocob, {"alpha": 100.0}),
    "cocob alpha": (tx.COCOB(20.0), cocob, {"alpha": 20.0}),
}


@pytest.mark.parametrize("shape", [(4, 3), (5,), ()], ids=str)
@pytest.mark.parametrize("name", PAPERS)
def test_rules_follow_their_papers(name: str, shape: tuple[int, ...]) -> None:
    rule, trajectory, arguments = PAPERS[name]
    rng = np.random.default_rng(3)
    start, grads = rng.normal(size=shape), rng.normal(size=(12, *shape))
    leaf = tf.Variable(start)
    state = tx.setup(rule, leaf)
    for grad, expected in zip(grads, trajectory(start, grads, **arguments), strict=True):
        tx.update(state, leaf, tf.constant(grad))
        np.testing.assert_allclose(leaf, expected, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize(("l1", "l2"), [(0.0, 0.0), (0.3, 0.0), (0.3, 0.2), (0.0, 0.2)])
def test_proximal_adagrad_is_the_kernel_of_tensorflow(l1: float, l2: float) -> None:
    rng = np.random.default_rng(3)
    start, grads = rng.normal(size=(40,)), rng.normal(size=(20, 40))
    ours, theirs, accumulator = (tf.Variable(v) for v in (start, start, np.full_like(start, 0.1)))
    state = tx.setup(tx.ProximalAdagrad(0.5, l1=l1, l2=l2), ours)
    zeros = 0
    for grad in grads:
        tf.raw_ops.ResourceApplyProximalAdagrad(
            var=theirs.handle,
            accum=accumulator.handle,
            lr=tf.constant(0.5, tf.float64),
            l1=tf.constant(l1, tf.float64),
            l2=tf.constant(l2, tf.float64),
            grad=tf.constant(grad),
        )
        tx.update(state, ours, tf.constant(grad))
        np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-14)
        zeros += np.count_nonzero(ours.numpy() == 0.0)
    assert (zeros > 0) == (l1 > 0)


SMALL_GRADS = ([0.1, 0.2], [0.03, 0.04])
EQUAL_GRADS = ([0.1, 0.2], [0.3, 0.4])
ADDONS: dict[str, tuple[tx.Rule, int, Any, Any]] = {
    "RectifiedAdam": (
        tx.RAdam(),
        100,
        SMALL_GRADS,
        [[0.985769, 1.985269], [2.986119, 3.986068]],
    ),
    "RectifiedAdam, weight decay": (
        tx.RAdam(weight_decay=0.01),
        100,
        SMALL_GRADS,
        [[0.984775, 1.983276], [2.983125, 3.982076]],
    ),
    "AdaBelief": (
        tx.AdaBelief(rectify=False),
        100,
        SMALL_GRADS,
        [[0.66723955, 1.6672393], [2.6672382, 3.6672382]],
    ),
    "AdaBelief, amsgrad": (
        tx.AdaBelief(rectify=False, amsgrad=True),
        100,
        SMALL_GRADS,
        [[0.67249274, 1.6724932], [2.6724923, 3.6724923]],
    ),
    "AdaBelief, weight decay": (
        tx.AdaBelief(rectify=False, weight_decay=0.01),
        100,
        SMALL_GRADS,
        [[0.66637343, 1.6653734], [2.6643748, 3.6633751]],
    ),
    "NovoGrad": (
        tx.NovoGrad(0.1, epsilon=1e-8),
        1,
        EQUAL_GRADS,
        [[0.9552786425, 1.9105572849], [2.9400000012, 3.9200000016]],
    ),
    "NovoGrad, averaging": (
        tx.NovoGrad(0.1, grad_averaging=True, epsilon=1e-8),
        2,
        EQUAL_GRADS,
        [[0.9105572849, 1.8211145698], [2.8800000024, 3.8400000032]],
    ),
    "COCOB": (
        tx.COCOB(),
        100,
        SMALL_GRADS,
        [[-4.183396e16, -4.183396e16], [-4.1833639e16, -4.1833858e16]],
    ),
    "COCOB, alpha": (
        tx.COCOB(55.7),
        78,
        SMALL_GRADS,
        [[-6.7280056e15, -6.7280056e15], [-6.7279933e15, -6.7280217e15]],
    ),
}


@pytest.mark.parametrize("name", ADDONS)
def test_rules_give_the_numbers_that_tensorflow_addons_expects(name: str) -> None:
    rule, steps, grads, expected = ADDONS[name]
    leaves = [tf.Variable([1.0, 2.0]), tf.Variable([3.0, 4.0])]
    state = tx.setup(rule, leaves)
    for _ in range(steps):
        tx.update(state, leaves, [tf.constant(grad) for grad in grads])
    # Addons asks for 2e-4, absolute; the large numbers of COCOB differ by float32 rounding.
    for leaf, value in zip(leaves, expected, strict=True):
        np.testing.assert_allclose(leaf, value, atol=2e-4, rtol=2e-5)


def test_rprop_follows_a_schedule_and_stays_within_its_bounds() -> None:
    leaf = tf.Variable([1.0], dtype=tf.float64)
    rule = tx.Rprop(0.1, step_max=0.2)
    state = tx.setup(rule, leaf)
    values = []
    for _ in range(6):
        tx.update(state, leaf, tf.constant([1.0], tf.float64))
        values.append(float(leaf[0]))
    np.testing.assert_allclose(-np.diff([1.0, *values]), [0.1, 0.12, 0.144, 0.1728, 0.2, 0.2])
    tx.adjust(state, learning_rate=0.0)
    tx.update(state, leaf, tf.constant([1.0], tf.float64))
    assert float(leaf[0]) == values[-1]
    tx.adjust(state, learning_rate=0.05)
    tx.update(state, leaf, tf.constant([1.0], tf.float64))
    # The scale was 2 at the bound and grew by 1.2 twice, once while the leaf stood still.
    np.testing.assert_allclose(values[-1] - float(leaf[0]), 0.05 * 2 * 1.2**2)


def test_both_branches_of_rectified_adam_run_from_one_trace() -> None:
    grads = np.random.default_rng(4).normal(size=(8, 3))
    leaves = [tf.Variable([1.0, -2.0, 0.5], dtype=tf.float64) for _ in range(2)]
    states = [tx.setup(tx.RAdam(sma_threshold=4.0), leaf) for leaf in leaves]
    traces = []

    @tf.function(jit_compile=True)
    def step(grad: Any) -> None:
        traces.append(1)
        tx.update(states[0], leaves[0], grad)

    for grad in grads:
        step(tf.constant(grad))
        tx.update(states[1], leaves[1], tf.constant(grad))
        np.testing.assert_allclose(leaves[0], leaves[1], rtol=1e-13)
    assert len(traces) == 1


@pytest.mark.parametrize("rule", [tx.Rprop(), tx.COCOB()], ids=repr)
def test_rules_about_real_numbers_refuse_complex_leaves(rule: tx.Rule) -> None:
    with pytest.raises(TypeError, match=r"real leaves only, but leaf/w is complex64"):
        tx.setup(tx.Chain(rule), {"leaf": {"w": tf.Variable([1 + 1j], dtype=tf.complex64)}})


def test_wrong_arguments_are_named() -> None:
    with pytest.raises(ValueError, match=r"ord.*\"fro\" or \"nuclear\", got 'spectral'"):
        tx.ConditionalGradient(0.1, ord="spectral")
    with pytest.raises(ValueError, match=r"at most two dimensions, but w has shape \(1, 2, 3\)"):
        tx.setup(tx.ConditionalGradient(0.1, ord="nuclear"), {"w": tf.Variable(tf.ones([1, 2, 3]))})
    with pytest.raises(ValueError, match=r"activation.*got 'relu'"):
        tx.Yogi(activation="relu")
    with pytest.raises(ValueError, match=r"initial_accumulator_value"):
        tx.ProximalAdagrad(initial_accumulator_value=-0.1)
    with pytest.raises(ValueError, match=r"alpha.*at least 1"):
        tx.COCOB(0.5)
