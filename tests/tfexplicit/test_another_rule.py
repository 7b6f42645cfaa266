"""`adjust(opt_state, rule)`: another rule for a state that has the slots it needs."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

import tfexplicit as tx

GRADS = {"w": tf.constant([1.0, -2.0]), "b": tf.constant(0.5)}


def model() -> dict[str, tf.Variable]:
    return {"w": tf.Variable([1.0, 2.0]), "b": tf.Variable(3.0)}


def test_other_numbers_reach_a_function_traced_before() -> None:
    net = model()
    state = tx.setup(tx.Chain(tx.ClipByNorm(9.0), tx.SGD(0.1)), net)
    step = tf.function(lambda: tx.update(state, net, GRADS) and None)
    step()
    tx.adjust(state, tx.Chain(tx.ClipByNorm(0.5), tx.SGD(1.0)))
    before = float(net["b"])
    step()
    assert before - float(net["b"]) == pytest.approx(0.5)
    assert step.experimental_get_tracing_count() == 1


def test_another_formula_goes_on_from_the_same_slots() -> None:
    nets = [model(), model()]
    ours, theirs = (tx.setup(tx.Adam(0.1), net) for net in nets)
    for net, state in zip(nets, (ours, theirs), strict=True):
        tx.update(state, net, GRADS)
    tx.adjust(ours, tx.AdamW(0.1, weight_decay=0.5))
    value, moments = nets[0]["b"].numpy(), [s.numpy() for s in ours["b"].slots.values()]
    for net, state in zip(nets, (ours, theirs), strict=True):
        tx.update(state, net, GRADS)
    decayed = float(nets[1]["b"]) - float(nets[0]["b"])
    assert decayed == pytest.approx(0.1 * 0.5 * value, rel=1e-4)
    assert np.all([m.shape == () for m in moments])
    assert int(ours.step) == 2
    assert "AdamW" in repr(ours)


def test_a_formula_that_is_traced_already_is_not_swapped_in_silence() -> None:
    net = model()
    state = tx.setup(tx.SGD(0.1, momentum=0.9), net)
    step = tf.function(lambda: tx.update(state, net, GRADS) and None)
    step()
    with pytest.raises(ValueError, match=r"goes on computing SGD.*tx\.setup"):
        tx.adjust(state, tx.SGD(0.1, momentum=0.9, nesterov=True))


def test_slots_must_agree() -> None:
    state = tx.setup(tx.SGD(0.1), model())
    with pytest.raises(ValueError, match=r"momentum, velocity, not none"):
        tx.adjust(state, tx.Adam())


def test_a_part_with_a_rule_of_its_own() -> None:
    net = model()
    state = tx.setup({"w": tx.Adam(0.1), "b": tx.Adam(0.2)}, net)
    tx.adjust(state["w"], tx.AdamW(0.3))
    assert "AdamW(learning_rate=0.3)" in repr(state["w"])
    assert "Adam(learning_rate=0.2)" in repr(state["b"])
    shared = tx.setup(tx.Adam(0.1), net)
    with pytest.raises(ValueError, match=r"'w' shares the rule Adam.* with 'b'"):
        tx.adjust(shared["w"], tx.AdamW(0.3))


def test_the_pure_form_leaves_the_state_as_it_is() -> None:
    net = model()
    state = tx.setup(tx.Adam(0.1), net)
    other: Any = tx.adjusted(state, tx.AdamW(0.3))
    assert "AdamW" in repr(other)
    assert "AdamW" not in repr(state)
    after, _ = tx.updated(other, net, GRADS)
    assert int(after.step) == 1


def test_a_keras_optimizer_gives_way_to_a_rule() -> None:
    net = model()
    state = tx.setup(keras.optimizers.Adam(0.1), net)
    tx.update(state, net, GRADS)
    tx.adjust(state, tx.AdamW(0.1))
    tx.update(state, net, GRADS)
    assert int(state.step) == 2


def test_an_adopted_keras_optimizer_does_not() -> None:
    class Own(keras.optimizers.SGD):
        pass

    with pytest.raises(TypeError, match="its own update"):
        tx.adjust(tx.setup(Own(0.1), model()), tx.SGD(0.1))


def test_a_checkpoint_saves_the_numbers_of_the_new_rule(tmp_path: Any) -> None:
    states = [tx.setup(tx.Adam(0.1), model()) for _ in range(2)]
    for state, rate in zip(states, (0.3, 0.4), strict=True):
        tx.adjust(state, tx.AdamW(rate))
    path = tf.train.Checkpoint(state=states[0]).save(str(tmp_path / "checkpoint"))
    tf.train.Checkpoint(state=states[1]).restore(path).assert_consumed()
    assert tx.state_dict(states[1])["leaves"]["w"]["hyper"]["learning_rate"] == 0.3


def test_wrong_arguments() -> None:
    state = tx.setup(tx.Adam(0.1), model())
    with pytest.raises(TypeError, match="expected a rule"):
        tx.adjust(state, 0.1)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="give the numbers to the rule"):
        tx.adjust(state, tx.Adam(), learning_rate=0.1)
