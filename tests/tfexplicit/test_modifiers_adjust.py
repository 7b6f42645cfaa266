"""Adjusting and reading hyperparameters through every wrapper: groups G, H (adjust, thaw) and I."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

import tfexplicit as tx


def wrapped(rule: tx.Rule) -> list[tx.Rule]:
    return [
        tx.Chain(tx.ClipByValue(10.0), rule),
        tx.Chain(tx.Chain(tx.LossScale(1.0), rule), tx.EMA()),
        tx.MixedPrecision(tx.Chain(tx.SkipNonFinite(), rule)),
        tx.Partition({"nothing": tx.Centralize(), "**": rule}),
        tx.Chain(tx.AccumulateGrads(1), tx.Partition({"**": tx.Chain(rule, tx.Lookahead())})),
    ]


@pytest.mark.parametrize("rule", wrapped(tx.SGD(0.1)), ids=repr)
def test_adjust_and_reading_back_go_through_every_wrapper(rule: tx.Rule) -> None:
    model = {"x": tf.Variable([1.0, 2.0]), "y": tf.Variable([3.0, 4.0])}
    grads = {"x": tf.constant([1.0, 10.0]), "y": tf.constant([2.0, 3.0])}
    state = tx.setup(rule, model)
    tx.update(state, model, grads)
    np.testing.assert_allclose(model["x"], [0.9, 1.0], rtol=1e-6)
    assert state.hyper["learning_rate"] == 0.1
    tx.adjust(state, learning_rate=np.array(0.25))
    tx.adjust(state["y"], learning_rate=0.5)
    assert state["x"].hyper["learning_rate"] == 0.25
    tx.update(state, model, grads)
    np.testing.assert_allclose(model["x"], [0.65, -1.5], rtol=1e-6)
    np.testing.assert_allclose(model["y"], [1.8, 2.2], rtol=1e-6)
    assert "learning_rate" in state.hyper
    with pytest.raises(ValueError, match=r"learning_rate differs: 0.25 at x; 0.5 at y. .*hyper"):
        state.hyper["learning_rate"]


def test_a_name_reaches_only_the_parts_that_have_it() -> None:
    rule = tx.Chain(tx.ClipByValue(1.0), tx.SGD(1.0), tx.EMA(0.5))
    v = tf.Variable(0.0)
    state = tx.setup(rule, v)
    tx.adjust(state, clipvalue=2.5)
    tx.update(state, v, tf.constant(9.0))
    assert v.numpy() == -2.5
    assert dict(state.hyper) == {
        "clip_by_value/clipvalue": 2.5,
        "sgd/learning_rate": 1.0,
        "ema/momentum": 0.5,
    }
    with pytest.raises(ValueError, match="Did you mean 'momentum'"):
        tx.adjust(state, momentun=0.5)
    with pytest.raises(KeyError, match="Did you mean 'sgd/learning_rate'"):
        state.hyper["learningrate"]
    assert "epsilon" not in state.hyper


def test_reading_follows_schedules_and_keras_optimizers_also_in_a_trace() -> None:
    v = tf.Variable(0.0)
    schedule = keras.optimizers.schedules.PiecewiseConstantDecay([1], [1.0, 0.5])
    optimizers: list[Any] = [
        tx.SGD(schedule),
        keras.optimizers.SGD(0.25),
        keras.optimizers.Ftrl(0.25),
    ]
    for optimizer in optimizers:
        state = tx.setup(optimizer, v)
        read = tf.function(lambda state=state: state.hyper["learning_rate"])
        first = 1.0 if optimizer is optimizers[0] else 0.25
        assert float(read()) == float(state.hyper["learning_rate"]) == first
        for _ in range(2):
            tx.update(state, v, tf.constant(1.0))
    state = tx.setup(optimizers[0], v)
    assert float(state.hyper["learning_rate"]) == 1.0
    for _ in range(2):
        tx.update(state, v, tf.constant(1.0))
    assert float(state.hyper["learning_rate"]) == 0.5


def test_reading_of_a_model_that_was_built_after_setup() -> None:
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    state = tx.setup(tx.SGD(0.5), model)
    with pytest.raises(KeyError, match="not built yet"):
        state.hyper["learning_rate"]
    model.build((None, 2))
    assert state.hyper["learning_rate"] == 0.5


def test_reading_in_a_trace_notices_leaves_that_differ() -> None:
    model = [tf.Variable(0.0), tf.Variable(0.0)]
    state = tx.setup(tx.SGD(0.5), model)
    read = tf.function(lambda: state.hyper["learning_rate"])
    assert float(read()) == 0.5
    tx.adjust(state["0"], learning_rate=0.25)
    with pytest.raises(tf.errors.InvalidArgumentError):
        read()


def test_group_h_adjust_then_thaw() -> None:
    model = {"x": tf.Variable([1.0, 2.0]), "y": tf.Variable([3.0, 4.0])}
    grads = {"x": tf.constant([1.0, 10.0]), "y": tf.constant([100.0, 1000.0])}
    state = tx.setup(tx.Chain(tx.SGD(0.1), tx.DecoupledWeightDecay(0.0)), model)
    tx.freeze(state["y"])
    tx.update(state, model, grads)
    np.testing.assert_array_equal(model["y"], [3, 4])
    tx.adjust(state, learning_rate=0.2)
    tx.thaw(state)
    tx.update(state, model, grads)
    np.testing.assert_allclose(model["y"], [-17, -196], rtol=1e-6)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: tx.Adam(lr=1e-3), "Adam has no argument `lr`. Use learning_rate=0.001."),
        (lambda: tx.Adam(clipnorm=1.0), "tx.Chain(tx.ClipByNorm(1.0), tx.Adam(...))"),
        (lambda: tx.SGD(clipvalue=1.0), "tx.Chain(tx.ClipByValue(1.0), tx.SGD(...))"),
        (lambda: tx.SGD(global_clipnorm=1), "tx.Chain(tx.ClipByGlobalNorm(1), tx.SGD(...))"),
        (lambda: tx.SGD(weight_decay=0.1), "tx.Chain(tx.SGD(...), tx.DecoupledWeightDecay(0.1))"),
        (lambda: tx.Adam(use_ema=True), "tx.Chain(tx.Adam(...), tx.EMA())"),
        (lambda: tx.Adam(ema_momentum=0.9), "tx.EMA(momentum=0.9)"),
        (lambda: tx.Adam(gradient_accumulation_steps=4), "tx.Chain(tx.AccumulateGrads(4), tx.A"),
        (lambda: tx.Adam(loss_scale_factor=8), "tx.LossScale(8, dynamic=False)"),
        (lambda: tx.Adam(name="mine"), "tx.Chain(main=tx.Adam(...))"),
        (lambda: tx.Adam(jit_compile=True), "tf.function(..., jit_compile=True)"),
        (lambda: tx.Adam(beta1=0.9), "Did you mean 'beta_1'"),
        (lambda: tx.MixedPrecision(tx.Adam(), dtyp="float32"), "Did you mean 'dtype'?"),
        (lambda: tx.EMA(decay=0.9), "EMA has no argument `decay`."),
    ],
)
def test_group_i_a_wrong_argument_says_what_to_write(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(TypeError) as caught:
        make()
    assert message in str(caught.value)


@pytest.mark.parametrize("rule", [tx.Adam(), tx.Chain(tx.Adam()), tx.Partition({"**": tx.SGD()})])
def test_a_rule_cannot_be_changed_and_says_what_can(rule: Any) -> None:
    with pytest.raises(dataclasses.FrozenInstanceError, match=r"tx.adjust\(opt_state, learning_"):
        rule.learning_rate = 0.1


def test_numbers_out_of_range_and_of_the_wrong_type() -> None:
    wrong: list[Callable[[], Any]] = [
        lambda: tx.EMA(1.5),
        lambda: tx.WeightDecay(-1.0),
        lambda: tx.Lookahead(0),
        lambda: tx.SWA(-1),
        lambda: tx.AdaptiveClip(0.0),
        lambda: tx.EMA(overwrite_frequency=0),
        lambda: tx.SkipNonFinite(0),
    ]
    for make in wrong:
        with pytest.raises(ValueError, match="must be"):
            make()
    with pytest.raises(TypeError, match="must be a number"):
        tx.SignDecay("0.1")
    assert tx.WeightDecay(1).weight_decay == 1
