"""What Optimisers.jl tests of steps, by its groups: A basics, B non-finite, H, I, doctest numbers.

The other groups: C, E, K, N, O in test_conformance_trees and test_destructure; D, F in
test_modifiers_chain; G, H in test_modifiers_adjust; J, L, M in test_conformance_of_gradients (its
norms of other orders than 2 have no counterpart here); P in test_rules_learn, its thirteen steps in
test_in_place_equals_pure; Q in test_modifiers_accumulation; R in test_dtypes_of_leaves; S in
test_modifiers_mixed_precision; T in test_rules_from_papers and test_changing_a_state.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import tfexplicit as tx

START, GRAD = [1.0, 2.0], [25.0, 33.0]


def float64(values: Any) -> Any:
    return tf.constant(values, tf.float64)


def test_group_a_the_pure_step_leaves_its_arguments_as_they_were() -> None:
    model = {"x": float64(START)}
    state = tx.setup(tx.SGD(0.1, momentum=0.9), model)
    new_state, new = tx.updated(state, model, {"x": float64(GRAD)})
    np.testing.assert_array_equal(model["x"], START)
    np.testing.assert_array_equal(state["x"].slots["momentum"], [0.0, 0.0])
    # Keras' sign: the velocity is added to the leaf.
    np.testing.assert_allclose(new_state["x"].slots["momentum"], [-2.5, -3.3])
    np.testing.assert_allclose(new["x"], np.array(START) - 0.1 * np.array(GRAD))
    assert (int(state.step), int(new_state.step)) == (0, 1)


def test_group_a_the_step_in_place_gives_the_same_objects() -> None:
    leaf = tf.Variable(float64(START))
    model = {"x": leaf}
    state = tx.setup(tx.SGD(0.1, momentum=0.9), model)
    velocity = state["x"].slots["momentum"]
    after, new = tx.update(state, model, {"x": float64(GRAD)})
    assert after is state
    assert new is model
    assert new["x"] is leaf
    assert state["x"].slots["momentum"] is velocity
    np.testing.assert_allclose(velocity, [-2.5, -3.3])
    np.testing.assert_allclose(leaf, np.array(START) - 0.1 * np.array(GRAD))


def test_group_b_a_gradient_that_is_not_finite_is_not_hidden_by_clipping() -> None:
    """Optimisers.jl raises; a compiled step cannot. `SkipNonFinite` leaves such a step out."""
    for rule in (tx.ClipByNorm(10.0), tx.ClipByGlobalNorm(10.0)):
        for bad in (np.nan, np.inf):
            leaf = tf.Variable([0.0, 0.0])
            tx.update(tx.setup(rule, leaf), leaf, tf.constant([1.0, bad]))
            assert not np.isfinite(leaf.numpy()[1])
    leaf = tf.Variable([0.0, 0.0])
    skipping = tx.setup(tx.Chain(tx.SkipNonFinite(), tx.ClipByNorm(10.0)), leaf)
    tx.update(skipping, leaf, tf.constant([1.0, np.nan]))
    np.testing.assert_array_equal(leaf, [0.0, 0.0])


@pytest.mark.parametrize("verb", [tx.freeze, tx.thaw])
def test_group_h_a_model_cannot_be_frozen(verb: Any) -> None:
    with pytest.raises(TypeError, match="state"):
        verb({"x": tf.Variable(START)})


def test_group_i_numbers_of_a_rule() -> None:
    with pytest.raises(ValueError, match="`learning_rate` must be at least 0"):
        tx.SGD(-0.1)
    with pytest.raises(TypeError, match="must be a number"):
        tx.Adam(beta_1=(0.9, 0.999))
    leaf = tf.Variable([3.0])
    tx.update(tx.setup(tx.SGD(learning_rate=1), leaf), leaf, tf.constant([2.0]))
    assert float(leaf[0]) == 1.0


def test_doctest_numbers_of_momentum_and_nesterov() -> None:
    leaf = tf.Variable(float64(START))
    tx.update(tx.setup(tx.SGD(1 / 30, momentum=0.9), leaf), leaf, float64([10.0, 14.0]))
    np.testing.assert_allclose(leaf, [2 / 3, 1.5333333333333333])
    leaf = tf.Variable(float64(START))
    state = tx.setup(tx.SGD(0.001, momentum=0.9, nesterov=True), {"x": leaf})
    tx.update(state, {"x": leaf}, [float64([16.0, 88.0])])
    np.testing.assert_allclose(state["x"].slots["momentum"], [-0.016, -0.088])


def test_doctest_numbers_of_no_gradient_and_of_one_that_is_zero() -> None:
    """With `steps="leaf"`, as there: no gradient is no step, a zero is one."""
    model = {"x": tf.Variable(float64([0.0])), "y": tf.Variable(float64([0.0]))}
    state = tx.setup(tx.Adam(), model, steps="leaf")
    tx.update(state, model, {"x": float64([1.0]), "y": float64([1.0])})
    moments = [state[name].slots[slot] for name in "xy" for slot in ("momentum", "velocity")]
    np.testing.assert_allclose(tf.concat(moments, 0), [0.1, 0.001, 0.1, 0.001])
    before = model["y"].numpy()
    tx.update(state, model, {"x": float64([0.0]), "y": None})
    np.testing.assert_allclose(tf.concat(moments, 0), [0.09, 0.000999, 0.1, 0.001])
    np.testing.assert_array_equal(model["y"], before)
    counts = [tx.state_dict(state)["leaves"][name]["taken"] for name in "xy"]
    assert counts == [2, 1]


def test_a_hyperparameter_may_not_be_named_as_what_a_state_keeps() -> None:
    @dataclass(frozen=True, eq=False, repr=False)
    class Own(tx.Rule):
        frozen: tx.NonNegative = 0.0

    with pytest.raises(TypeError, match="Own: a hyperparameter cannot be named 'frozen'"):
        Own()
