"""What holds for every rule because it is one: all are found, and run in each variant."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import tfexplicit as tx
from tfexplicit.rules import all_rules

VARIANTS = [rule for name in sorted(all_rules) for rule in all_rules[name].variants()]
every_rule = pytest.mark.parametrize("rule", VARIANTS, ids=repr)

SHAPES = {"kernel": (4, 3), "bias": (3,)}
STEPS = 4


def start() -> dict[str, Any]:
    rng = np.random.default_rng(1)
    return {name: rng.normal(size=shape).astype("float32") for name, shape in SHAPES.items()}


def grads_at(step: int) -> dict[str, Any]:
    """The bias has no gradient at every third step."""
    rng = np.random.default_rng(100 + step)
    grads = {name: tf.constant(rng.normal(size=s), tf.float32) for name, s in SHAPES.items()}
    return grads | {"bias": None} if step % 3 == 1 else grads


def variables() -> dict[str, tf.Variable]:
    return {name: tf.Variable(value, name=name) for name, value in start().items()}


def numbers(state: Any, model: Any) -> list[Any]:
    """Values and slots of every leaf."""
    slots = [array for path in sorted(state.paths) for array in state[path].slots.values()]
    return [np.asarray(value) for value in [*(model[name] for name in sorted(model)), *slots]]


def compiled_by_xla(rule: tx.Rule) -> list[Any]:
    model = variables()
    state = tx.setup(rule, model)
    step = tf.function(lambda grads: tx.update(state, model, grads) and None, jit_compile=True)
    for count in range(STEPS):
        step(grads_at(count))
    return numbers(state, model)


def assert_close(ours: list[Any], theirs: list[Any], bound: float = 2e-5) -> None:
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, b, rtol=bound, atol=bound)


@every_rule
def test_in_place_pure_and_xla_give_the_same_numbers(rule: tx.Rule) -> None:
    model = variables()
    live = tx.setup(rule, model)
    values: Any = {name: tf.constant(value) for name, value in start().items()}
    state: Any = tx.setup(rule, values)
    for count in range(STEPS):
        tx.update(live, model, grads_at(count))
        state, values = tx.updated(state, values, grads_at(count))
    in_place = numbers(live, model)
    assert all(np.isfinite(array).all() for array in in_place)
    assert_close(numbers(state, values), in_place)
    assert_close(compiled_by_xla(rule), in_place, bound=1e-4)


@every_rule
def test_adjusting_and_freezing_reach_a_function_traced_before(rule: tx.Rule) -> None:
    model = variables()
    state = tx.setup(rule, model)
    traces = []

    @tf.function
    def step(batch: Any) -> None:
        traces.append(1)
        tx.update(state, model, {name: batch * (1 + leaf) for name, leaf in model.items()})

    def kernel() -> list[Any]:
        return [model["kernel"].numpy(), *(s.numpy() for s in state["kernel"].slots.values())]

    step(tf.constant(1.0))
    for name, value in rule.hyperparameters().items():
        number = float(value) if isinstance(value, int | float) else 0.25
        tx.adjust(state, **{name: number * 0.5})
        step(tf.constant(2.0))
    tx.freeze(state["kernel"])
    before = kernel()
    step(tf.constant(3.0))
    assert all(np.array_equal(a, b) for a, b in zip(kernel(), before, strict=True))
    tx.thaw(state)
    step(tf.constant(4.0))
    assert len(traces) == 1


@every_rule
def test_a_part_may_be_stepped_alone(rule: tx.Rule) -> None:
    model = variables()
    state = tx.setup(rule, model)
    before = model["bias"].numpy()
    tx.update(state["kernel"], model["kernel"], grads_at(0)["kernel"])
    assert int(state.step) == 1
    assert np.array_equal(model["bias"].numpy(), before)


@every_rule
def test_a_checkpoint_brings_back_every_array(rule: tx.Rule, tmp_path: Any) -> None:
    def trained(steps: range, state: Any, model: Any) -> list[Any]:
        for count in steps:
            tx.update(state, model, grads_at(count))
        return numbers(state, model)

    model = variables()
    state = tx.setup(rule, model)
    trained(range(2), state, model)
    path = tf.train.Checkpoint(state=state, model=model).save(str(tmp_path / "checkpoint"))
    expected = trained(range(2, STEPS), state, model)

    other = variables()
    restored = tx.setup(rule, other)
    tf.train.Checkpoint(state=restored, model=other).restore(path).assert_consumed()
    assert_close(trained(range(2, STEPS), restored, other), expected, bound=0)
