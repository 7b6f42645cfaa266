"""`updated` has the derivative that differences give, also where a gradient is exactly 0."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import tfexplicit as tx
from tfexplicit.rules import all_rules

VARIANTS = [rule for name in sorted(all_rules) for rule in all_rules[name].variants()]
FIRST_IN_CI = [
    pytest.param(rule, id=repr(rule), marks=pytest.mark.slow if number else ())
    for name in sorted(all_rules)
    for number, rule in enumerate(all_rules[name].variants())
]
START = {"kernel": [[1.0, -2.0, 0.5], [0.3, 0.0, -1.0]], "bias": [0.5, 0.0]}
GRADS = [
    {"kernel": [[0.3, -1.0, 2.0], [0.5, 0.0, -0.2]], "bias": [0.7, 0.0]},
    {"kernel": [[-0.4, 0.8, 0.0], [0.1, 0.0, 0.6]], "bias": [0.2, 0.0]},
]
WEIGHTS = {"kernel": [[1.0, 2.0, -1.0], [0.5, 1.5, 2.5]], "bias": [1.0, -3.0]}


def constants(numbers: dict[str, Any], factor: Any = 1.0) -> dict[str, Any]:
    return {name: factor * tf.constant(value, tf.float64) for name, value in numbers.items()}


@pytest.mark.parametrize("rule", FIRST_IN_CI)
def test_the_derivative_is_that_of_differences(rule: tx.Rule) -> None:
    state = tx.setup(rule, constants(START))

    @tf.function
    def outcome(factor: Any) -> Any:
        """After a plain step and one whose gradient is scaled."""
        after, values = tx.updated(state, constants(START), constants(GRADS[0]))
        _, values = tx.updated(after, values, constants(GRADS[1], factor))
        weights = constants(WEIGHTS)
        return sum(tf.reduce_sum(values[name] * weights[name]) for name in values)

    @tf.function
    def derivative(factor: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(factor)
            result = outcome(factor)
        return tape.gradient(result, factor, unconnected_gradients="zero")

    def at(factor: float) -> float:
        return float(outcome(tf.constant(factor, tf.float64)))

    difference = (at(1.0 + 1e-5) - at(1.0 - 1e-5)) / 2e-5
    found = float(derivative(tf.constant(1.0, tf.float64)))
    np.testing.assert_allclose(found, difference, rtol=1e-4, atol=1e-8)


@pytest.mark.parametrize("rule", VARIANTS, ids=repr)
def test_a_first_gradient_of_zero_has_a_finite_derivative(rule: tx.Rule) -> None:
    leaves = constants(START)
    grads = {name: tf.zeros_like(value) for name, value in leaves.items()}
    with tf.GradientTape() as tape:
        tape.watch([leaves, grads])
        _, values = tx.updated(tx.setup(rule, leaves), leaves, grads)
    found = tape.gradient(values, [leaves, grads], unconnected_gradients="zero")
    assert all(np.isfinite(array).all() for array in tf.nest.flatten(found))
