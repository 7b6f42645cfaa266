"""A state is a value: it can be copied, compared, and passed to and from a `tf.function`."""

from __future__ import annotations

import copy
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

import tfexplicit as tx

GRADS = {"w": tf.constant([1.0, -2.0]), "b": tf.constant(0.5)}


def model() -> dict[str, tf.Variable]:
    return {"w": tf.Variable([1.0, 2.0]), "b": tf.Variable(3.0)}


def values() -> dict[str, Any]:
    return {"w": tf.constant([1.0, 2.0]), "b": tf.constant(3.0)}


def numbers(arrays: dict[str, Any]) -> list[Any]:
    return [np.asarray(arrays[name]).tolist() for name in sorted(arrays)]


def test_a_copy_goes_its_own_way() -> None:
    ours = model()
    state = tx.setup(tx.Adam(0.1), ours)
    tx.update(state, ours, GRADS)
    twin = copy.deepcopy(state)
    before = [slot.numpy().copy() for slot in twin["w"].slots.values()]
    tx.update(state, ours, GRADS)
    after = [slot.numpy() for slot in twin["w"].slots.values()]
    assert np.array_equal(before, after)
    assert (int(state.step), int(twin.step)) == (2, 1)
    tx.update(twin, ours, GRADS)
    assert twin == state


def test_a_model_and_its_state_are_copied_together() -> None:
    ours = model()
    state = tx.setup(tx.Adam(0.1), ours)
    tx.update(state, ours, GRADS)
    twin, twin_state = copy.deepcopy((ours, state))
    for net, opt_state in ((ours, state), (twin, twin_state)):
        tx.update(opt_state, net, GRADS)
    assert numbers(twin) == numbers(ours)
    assert twin["w"] is not ours["w"]
    assert twin_state == state


def test_a_keras_model_and_its_state_are_copied_together() -> None:
    """Keras makes the copy anew from its configuration."""
    inputs = keras.layers.Input([3])
    net = keras.Model(inputs, keras.layers.Dense(2)(inputs))
    state = tx.setup(tx.Adam(0.1), net)
    grads = [tf.ones([3, 2]), tf.ones([2])]
    tx.update(state, net, grads)
    twin, twin_state = copy.deepcopy((net, state))
    for each, opt_state in ((net, state), (twin, twin_state)):
        tx.update(opt_state, each, [-3.0 * grad for grad in grads])
    assert twin_state.paths == state.paths
    for ours, theirs in zip(net.get_weights(), twin.get_weights(), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_equality_looks_at_rules_leaves_and_arrays() -> None:
    ours = model()
    state = tx.setup(tx.Adam(0.1), ours)
    assert state == tx.setup(tx.Adam(0.1), model())
    assert state != tx.setup(tx.Adam(0.2), ours)
    assert state != tx.setup(tx.SGD(0.1), ours)
    assert state != tx.setup(tx.Adam(0.1), {"w": ours["w"]})
    assert state != "a state"
    other = tx.setup(tx.Adam(0.1), ours)
    tx.freeze(other["w"])
    assert state != other


def test_a_taken_over_keras_state_is_copied_as_one_of_its_rule() -> None:
    ours = model()
    state = tx.setup(keras.optimizers.Adam(0.1), ours)
    tx.update(state, ours, GRADS)
    twin = copy.deepcopy(state)
    tx.update(twin, ours, GRADS)
    assert (int(state.step), int(twin.step)) == (1, 2)


def test_an_adopted_optimizer_cannot_be_copied() -> None:
    class Own(keras.optimizers.SGD):
        pass

    state = tx.setup(Own(0.1), model())
    with pytest.raises(TypeError, match=r"Keras Own, .* Use a rule"):
        copy.deepcopy(state)


def test_a_state_of_variables_is_one_trace_as_an_argument() -> None:
    ours, other = model(), model()
    states = [tx.setup(tx.Adam(0.1), ours), tx.setup(tx.Adam(0.1), other)]
    traces = []

    @tf.function
    def step(opt_state: Any, net: Any) -> None:
        traces.append(1)
        tx.update(opt_state, net, GRADS)

    for _ in range(3):
        step(states[0], ours)
    assert len(traces) == 1
    step(states[1], other)
    assert len(traces) == 2
    assert [int(state.step) for state in states] == [3, 1]


def test_a_state_of_tensors_goes_in_and_out_of_one_trace() -> None:
    traces = []

    @tf.function
    def step(opt_state: Any, net: Any) -> Any:
        traces.append(1)
        return tx.updated(opt_state, net, GRADS)

    net: Any = values()
    state: Any = tx.setup(tx.Adam(0.1), net)
    for _ in range(3):
        state, net = step(state, net)
    # The state from `setup` holds variables, those after it tensors.
    assert len(traces) == 2
    ours = model()
    live = tx.setup(tx.Adam(0.1), ours)
    for _ in range(3):
        tx.update(live, ours, GRADS)
    np.testing.assert_allclose(net["w"], ours["w"], rtol=1e-6)
    assert int(state.step) == 3


def test_a_part_of_a_state_is_an_argument_too() -> None:
    ours = model()
    state = tx.setup(tx.SGD(0.1), ours)

    @tf.function
    def step(part: Any, leaf: Any) -> None:
        tx.update(part, leaf, GRADS["w"])

    step(state["w"], ours["w"])
    np.testing.assert_allclose(ours["w"], [0.9, 2.2], rtol=1e-6)
    assert float(ours["b"]) == 3.0


def test_a_state_of_tensors_is_carried_by_a_while_loop() -> None:
    net: Any = values()
    state: Any = tx.setup(tx.SGD(0.1, momentum=0.5), net)

    @tf.function
    def run(state: Any, net: Any) -> Any:
        state, net = tx.updated(state, net, GRADS)
        return tf.while_loop(
            lambda count, state, net: count < 2,
            lambda count, state, net: (count + 1, *tx.updated(state, net, GRADS)),
            (0, state, net),
        )

    _, after, trained = run(state, net)
    assert int(after.step) == 3
    # Velocity 1, 1.5, 1.75 times the gradient.
    np.testing.assert_allclose(trained["b"], 3.0 - 0.1 * 0.5 * 4.25, rtol=1e-6)
