"""A state as numbers, and put back; and a state, or a part of it, as at the start."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import tfexplicit as tx

GRADS = {"w": tf.constant([1.0, -2.0]), "b": tf.constant(0.5)}


def model() -> dict[str, tf.Variable]:
    return {"w": tf.Variable([1.0, 2.0]), "b": tf.Variable(3.0)}


def trained(steps: int = 2, rule: Any = None) -> tuple[Any, Any]:
    net = model()
    state = tx.setup(tx.Adam(0.1) if rule is None else rule, net)
    for _ in range(steps):
        tx.update(state, net, GRADS)
    return net, state


def test_the_numbers_are_plain_and_by_path() -> None:
    _, state = trained()
    numbers = tx.state_dict(state)
    assert numbers["step"] == 2
    assert sorted(numbers["leaves"]) == ["b", "w"]
    leaf = numbers["leaves"]["w"]
    assert sorted(leaf) == ["frozen", "hyper", "rested", "slots", "taken"]
    assert leaf["hyper"]["learning_rate"] == 0.1
    np.testing.assert_allclose(leaf["slots"]["momentum"], [0.19, -0.38], rtol=1e-6)
    assert isinstance(leaf["slots"]["momentum"], np.ndarray)
    assert tx.state_dict(state["w"])["leaves"].keys() == {"w"}


def test_numbers_loaded_into_a_fresh_state_continue_the_run() -> None:
    net, state = trained()
    tx.adjust(state["w"], learning_rate=0.01)
    tx.freeze(state["b"])
    numbers = tx.state_dict(state)
    values = {name: value.numpy() for name, value in net.items()}
    tx.update(state, net, GRADS)

    other = {name: tf.Variable(value) for name, value in values.items()}
    fresh = tx.setup(tx.Adam(0.1), other)
    assert tx.load_state_dict(fresh, numbers) == ([], [])
    tx.update(fresh, other, GRADS)
    assert fresh == state
    assert all(np.array_equal(other[name], net[name]) for name in net)


def test_a_part_is_loaded_alone() -> None:
    _, state = trained()
    numbers = tx.state_dict(state["w"])
    _, other = trained(steps=1)
    before = other["b"].slots["momentum"].numpy()
    tx.load_state_dict(other["w"], numbers)
    assert np.array_equal(other["w"].slots["momentum"], state["w"].slots["momentum"])
    assert np.array_equal(other["b"].slots["momentum"], before)
    assert int(other.step) == 1


def test_strict_names_what_does_not_fit_and_changes_nothing() -> None:
    _, state = trained()
    numbers = tx.state_dict(state)
    numbers["leaves"]["v"] = numbers["leaves"].pop("b")
    numbers["leaves"]["w"]["slots"]["momentum"] = np.zeros([3], np.float32)
    numbers["leaves"]["w"]["slots"]["velocity"] = np.zeros([2], np.float64)
    before = tx.state_dict(state)
    with pytest.raises(ValueError, match="nothing was changed") as error:
        tx.load_state_dict(state, numbers)
    message = str(error.value)
    assert "missing: b/slots/momentum" in message
    assert "unexpected: v/slots/momentum" in message
    assert "w/slots/momentum: shape (3,), expected (2,)" in message
    assert "w/slots/velocity: dtype float64, expected float32" in message
    np.testing.assert_equal(tx.state_dict(state), before)


def test_not_strict_loads_what_fits_and_returns_the_rest() -> None:
    _, state = trained()
    numbers = tx.state_dict(state)
    numbers["leaves"]["v"] = numbers["leaves"].pop("b")
    _, other = trained(steps=0)
    missing, unexpected = tx.load_state_dict(other, numbers, strict=False)
    assert "b/slots/velocity" in missing
    assert "v/slots/velocity" in unexpected
    assert np.array_equal(other["w"].slots["velocity"], state["w"].slots["velocity"])


def test_reset_begins_anew_in_a_function_traced_before() -> None:
    net, state = trained(steps=0)
    step = tf.function(lambda: tx.update(state, net, GRADS) and None)
    start = {name: value.numpy() for name, value in net.items()}
    step()
    after_one = {name: value.numpy() for name, value in net.items()}
    step()
    tx.reset(state)
    assert int(state.step) == 0
    for name, value in start.items():
        net[name].assign(value)
    step()
    assert all(np.array_equal(net[name], after_one[name]) for name in net)


def test_reset_of_a_part_leaves_the_rest_and_restarts_its_count() -> None:
    net, state = trained()
    b = state["b"].slots["momentum"].numpy()
    tx.reset(state["w"])
    assert int(state.step) == 2
    assert not state["w"].slots["momentum"].numpy().any()
    assert np.array_equal(state["b"].slots["momentum"], b)
    before = net["w"].numpy()
    tx.update(state, net, GRADS)
    # The first step of Adam is the learning rate, in the direction of the gradient.
    np.testing.assert_allclose(before - net["w"].numpy(), [0.1, -0.1], rtol=1e-4)


def test_reset_refuses_what_it_cannot_reset() -> None:
    net, state = trained()
    with pytest.raises(TypeError, match="holds tensors"):
        tx.reset(tx.updated(state, net, GRADS)[0])
    with pytest.raises(TypeError, match="reset: expected the state"):
        tx.reset(tx.Adam())
