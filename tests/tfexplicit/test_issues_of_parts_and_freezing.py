"""Issues 1 to 8 that implicit state gave its users: which variables it moves."""

from __future__ import annotations

import warnings
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

import tfexplicit as tx

X = tf.constant([[1.0, -2.0, 0.5], [0.3, 0.8, -1.0]])


def dense(units: int, name: str, inputs: int = 3) -> Any:
    return keras.Sequential([keras.Input((inputs,)), keras.layers.Dense(units, name=name)])


def encoder_and_head() -> dict[str, Any]:
    return {"encoder": dense(3, "hidden"), "head": dense(1, "out")}


def loss_of(model: dict[str, Any]) -> Any:
    return tf.reduce_mean((model["head"](model["encoder"](X)) - 1.0) ** 2)


def values(model: Any) -> list[Any]:
    return [np.asarray(leaf) for leaf in tx.trainables(model)]


def same(ours: list[Any], theirs: list[Any]) -> list[bool]:
    return [np.array_equal(a, b) for a, b in zip(ours, theirs, strict=True)]


@pytest.mark.parametrize("built", [True, False])
def test_issue_01_a_second_optimizer_in_a_function(built: bool) -> None:
    """tensorflow#27120, #34983, #42183: it "tried to create variables on non-first call"."""
    model = dense(1, "out") if built else keras.Sequential([keras.layers.Dense(1, name="out")])
    states = [tx.setup(rule, model) for rule in (tx.Adam(0.1), tx.SGD(0.1, momentum=0.9))]

    @tf.function
    def step(state: Any, x: Any) -> None:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(model(x) ** 2)
        tx.update(state, model, tape.gradient(loss, tx.trainables(model)))

    for _ in range(2):
        for state in states:
            step(state, X)
    assert [int(state.step) for state in states] == [2, 2]
    assert all(np.any(slot) for state in states for slot in state["out/kernel"].slots.values())


def test_issue_02_a_part_is_stepped_alone_and_a_stranger_is_named() -> None:
    """pyod#459, UniTVelo#20, lovedlim/tensorflow#40: "The optimizer cannot recognize variable"."""
    model = encoder_and_head()
    state = tx.setup(tx.Adam(0.1), model)
    before = values(model)
    tx.minimize(lambda head: loss_of(model | {"head": head}), state["head"], model["head"])
    assert same(values(model), before) == [True, True, False, False]
    tx.minimize(loss_of, state, model)
    assert not any(same(values(model), before))
    with pytest.raises(ValueError, match=r"no leaf 'other/kernel'.*tx\.setup\(rule, model\)"):
        tx.update(state, dense(1, "other"), [tf.ones([3, 1]), tf.ones([1])])


def test_issue_03_layers_that_are_unfrozen_join_the_run() -> None:
    """Nonlincausality#12: "Unknown variable", also of a GAN and after unfreezing."""
    model = encoder_and_head()
    model["encoder"].trainable = False
    state = tx.setup(tx.Adam(0.1), model)
    tx.minimize(loss_of, state, model)
    slot = state["head/out/kernel"].slots["momentum"]
    kept = slot.numpy()
    model["encoder"].trainable = True
    tx.update(state, model, [None, None, *[tf.zeros(v.shape) for v in values(model["head"])]])
    np.testing.assert_allclose(slot, kept * 0.9, rtol=1e-6)
    before = values(model)
    tx.minimize(loss_of, state, model)
    assert not any(same(values(model), before))
    assert len(state) == 4


def test_issue_04_thawing_needs_no_recompiling_and_loses_no_state() -> None:
    """keras#9477, #16234: unfreezing means `compile` again, which throws the moments away."""
    model = encoder_and_head()
    state = tx.setup(tx.Adam(0.1), model)
    step = tf.function(lambda: tx.minimize(loss_of, state, model))
    step()
    tx.freeze(state["encoder"])
    moments = state["encoder/hidden/kernel"].slots["momentum"].numpy()
    before = values(model)
    step()
    assert same(values(model), before) == [True, True, False, False]
    np.testing.assert_array_equal(state["encoder/hidden/kernel"].slots["momentum"], moments)
    tx.thaw(state["encoder"])
    step()
    assert not any(same(values(model), before))
    assert step.experimental_get_tracing_count() == 1


def test_issue_05_a_layer_frozen_after_the_first_step_does_not_move() -> None:
    """keras#3268, #10480: `trainable = False` is ignored by a step that was compiled before."""
    model = encoder_and_head()
    state = tx.setup(tx.SGD(0.1, momentum=0.9), model)
    in_graph = tf.function(lambda: tx.minimize(loss_of, state, model))
    in_graph()
    tx.freeze(state, "encoder/**")
    before = values(model["encoder"])
    in_graph()
    assert all(same(values(model["encoder"]), before))
    tx.thaw(state)
    # Keras' own flag, read by an eager step each time.
    model["encoder"].trainable = False
    tx.minimize(loss_of, state, model)
    assert all(same([leaf.numpy() for leaf in model["encoder"].weights], before))


def test_issue_06_a_gan_needs_no_flags() -> None:
    """keras#8585, tensorflow#22012, #33018, Keras-GAN#91: "Discrepancy between trainable"."""
    generator, critic = dense(3, "generator"), dense(1, "critic")
    states = tx.setup(tx.Adam(0.1), generator), tx.setup(tx.Adam(0.1), critic)
    made = values(generator), values(critic)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tx.minimize(lambda critic: tf.reduce_mean(critic(generator(X))), states[1], critic)
        assert all(same(values(generator), made[0]))
        assert not any(same(values(critic), made[1]))
        judged = values(critic)
        tx.minimize(lambda made: -tf.reduce_mean(critic(made(X))), states[0], generator)
    assert all(same(values(critic), judged))
    assert not any(same(values(generator), made[0]))
    assert [int(state.step) for state in states] == [1, 1]


def test_issue_07_a_learning_rate_per_layer() -> None:
    """keras#2132, #6912, #8850, #9881, #11934, #7912, #21741, addons#958: asked since 2016."""
    model = encoder_and_head()
    state = tx.setup(tx.SGD(0.1), model)
    step = tf.function(
        lambda: tx.update(state, model, [tf.ones(v.shape) for v in tx.trainables(model)]) and None
    )
    step()
    tx.adjust(state["encoder"], learning_rate=0.01)
    before = values(model)
    step()
    moved = [float(np.mean(old - new)) for old, new in zip(before, values(model), strict=True)]
    np.testing.assert_allclose(moved, [0.01, 0.01, 0.1, 0.1], rtol=1e-4)
    assert step.experimental_get_tracing_count() == 1


def test_issue_08_what_does_not_decay_is_said_by_path() -> None:
    """keras#16201, addons#2650, transformers#4360: exclusions by name are missing or do nothing."""
    model = {
        "dense": {"kernel": tf.Variable([2.0]), "bias": tf.Variable([2.0])},
        "norm": {"gamma": tf.Variable([2.0])},
    }

    def decays(path: str, leaf: Any) -> bool:
        return not (path.startswith("norm/") or path.endswith("/bias"))

    for where in (decays, "**/kernel"):
        for leaf in tx.trainables(model):
            leaf.assign([2.0])
        rule = tx.Chain(tx.Adam(0.1), tx.DecoupledWeightDecay(0.5, where=where))
        tx.update(tx.setup(rule, model), model, [tf.zeros([1])] * 3)
        assert [float(leaf[0]) for leaf in tx.trainables(model)] == pytest.approx([1.9, 2.0, 2.0])
