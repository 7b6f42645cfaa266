"""Warm-up, one cycle, and the schedules of users of Keras."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

import tfexplicit as tx


def values(schedule: Any, steps: list[int]) -> list[float]:
    return [float(schedule(tf.constant(step, tf.int64))) for step in steps]


def test_warmup_goes_straight_up_and_then_lets_the_target_run() -> None:
    steps = [0, 1, 4, 5, 100]
    assert values(tx.Warmup(0.1, 4), steps) == pytest.approx([0, 0.025, 0.1, 0.1, 0.1])
    assert values(tx.Warmup(1.0, 4, start=0.5), steps) == pytest.approx([0.5, 0.625, 1, 1, 1])
    decay = keras.optimizers.schedules.ExponentialDecay(0.1, 1, 0.5)
    assert values(tx.Warmup(decay, 4), [2, 4, 5, 6]) == pytest.approx([0.05, 0.1, 0.05, 0.025])


def test_warmup_and_cosine_are_those_of_keras() -> None:
    theirs = keras.optimizers.schedules.CosineDecay(
        0.0, 20, warmup_target=0.1, warmup_steps=10, alpha=0.1
    )
    ours = tx.Warmup(keras.optimizers.schedules.CosineDecay(0.1, 20, alpha=0.1), 10)
    steps = list(range(35))
    np.testing.assert_allclose(values(ours, steps), values(theirs, steps), atol=1e-8)


def test_one_cycle_goes_up_and_down_along_half_cosines() -> None:
    schedule = tx.OneCycle(1.0, 100)
    first, last = 1 / 25, 1 / 25e4
    middle = [(first + 1) / 2, (1 + last) / 2]
    assert values(schedule, [0, 15, 30, 65, 100, 1000]) == pytest.approx(
        [first, middle[0], 1.0, middle[1], last, last]
    )
    quarter = last + (1 - last) / 2 * (1 + math.cos(math.pi / 4))
    other = tx.OneCycle(1.0, 8, rise=0.5)
    assert values(other, [5]) == pytest.approx([quarter])


@pytest.mark.parametrize("compiled", [False, True])
def test_they_serve_as_any_number_of_a_rule(compiled: bool) -> None:
    v = tf.Variable(0.0)
    rule = tx.Chain(tx.ClipByValue(tx.Warmup(4.0, 4, start=1.0)), tx.SGD(tx.OneCycle(0.25, 10)))
    state = tx.setup(rule, v)
    step = tf.function(lambda: tx.update(state, v, tf.constant(9.0)) and None, jit_compile=compiled)
    expected = 0.0
    for count in range(4):
        step()
        clip, rate = 1 + 3 * count / 4, values(tx.OneCycle(0.25, 10), [count])[0]
        expected -= clip * rate
    assert v.numpy() == pytest.approx(expected, rel=1e-5)
    assert float(state.hyper["clipvalue"]) == 4.0


def test_wrong_arguments() -> None:
    with pytest.raises(ValueError, match="`warmup_steps` must be at least 1"):
        tx.Warmup(0.1, 0)
    with pytest.raises(TypeError, match="`start` must be a number"):
        tx.Warmup(0.1, 3, start="0")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="`rise` must be between 0 and 1"):
        tx.OneCycle(0.1, 10, rise=1.0)
    with pytest.raises(TypeError, match="`peak` must be a number"):
        tx.OneCycle(lambda step: 0.1, 10)  # type: ignore[arg-type]


BODIES: dict[str, Callable[[Any], Any]] = {
    "plus": lambda step: 0.01 + step * 0.001,
    "times": lambda step: 0.5 * step * 0.01,
    "compared": lambda step: tf.where(step >= 2.0, 0.01, 0.02),
    "divided": lambda step: 0.1 / (1 + step / 3),
    "power": lambda step: 0.1 * 0.9 ** (step / 10),
    "a tensor after its first sum": lambda step: tf.cast((step + 1) / 3, tf.float64) * 0.0123,
}


class Schedule(keras.optimizers.schedules.LearningRateSchedule):  # type: ignore[misc, name-defined]
    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, step: Any) -> Any:
        return BODIES[self.name](step)


@pytest.mark.parametrize("how", ["eager", "graph", "xla"])
def test_a_schedule_of_a_user_of_keras_gets_the_step_as_from_keras(how: str) -> None:
    """Keras hands it a variable of its own, whose arithmetic is not that of an int64 tensor."""
    start, grad = [1.0, -2.0, 0.3], tf.constant([0.7, -0.1, 0.3])
    kept, given, ruled = ([tf.Variable(start) for _ in BODIES] for _ in range(3))
    optimizers = [keras.optimizers.SGD(Schedule(name)) for name in BODIES]
    adopted = [
        tx.setup(keras.optimizers.SGD(Schedule(name)), leaf)
        for name, leaf in zip(BODIES, given, strict=True)
    ]
    states = [
        tx.setup(tx.SGD(Schedule(name)), leaf) for name, leaf in zip(BODIES, ruled, strict=True)
    ]

    def step() -> None:
        for optimizer, leaf in zip(optimizers, kept, strict=True):
            optimizer.apply_gradients([(grad, leaf)])
        for state, leaf in zip(adopted + states, given + ruled, strict=True):
            tx.update(state, leaf, grad)

    train_step = step if how == "eager" else tf.function(step, jit_compile=how == "xla")
    for _ in range(5):
        train_step()
    for name, by_keras, *ours in zip(BODIES, kept, given, ruled, strict=True):
        assert not np.array_equal(by_keras, start), name
        for leaf in ours:
            np.testing.assert_array_equal(leaf, by_keras, name)


def test_it_gets_the_same_in_a_step_without_side_effects_and_after_a_warmup() -> None:
    value = tf.constant(0.0)
    state = tx.setup(tx.SGD(Schedule("divided")), value)
    for _ in range(2):
        state, value = tx.updated(state, value, tf.constant(-1.0))
    assert float(value) == pytest.approx(0.1 + 0.1 / (1 + 1 / 3))
    assert values(tx.Warmup(Schedule("plus"), 2), [1, 2, 3]) == pytest.approx([0.005, 0.01, 0.011])
