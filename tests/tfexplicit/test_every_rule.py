"""What holds for every rule because it is one: all classes are found, and run in each variant.

The variants of a class are trained side by side, each on a part of its own, to save traces.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import tfexplicit as tx
from tfexplicit.rules import all_rules

every_rule = pytest.mark.parametrize("rule_class", all_rules.values(), ids=all_rules)

SHAPES = {"kernel": (4, 3), "bias": (3,)}
STEPS = 4

Parts = dict[str, dict[str, Any]]


def variants(rule_class: type[tx.Rule]) -> dict[str, tx.Rule]:
    return {str(number): rule for number, rule in enumerate(rule_class.variants())}


def setup(rule_class: type[tx.Rule], model: Parts) -> Any:
    return tx.setup({f"{n}/**": rule for n, rule in variants(rule_class).items()}, model)


def start(rule_class: type[tx.Rule]) -> Parts:
    rng = np.random.default_rng(1)
    values = {name: rng.normal(size=shape).astype("float32") for name, shape in SHAPES.items()}
    return {number: dict(values) for number in variants(rule_class)}


def variables(rule_class: type[tx.Rule]) -> Parts:
    return {
        number: {name: tf.Variable(value, name=name) for name, value in values.items()}
        for number, values in start(rule_class).items()
    }


def grads_at(step: int, model: Parts) -> Parts:
    """The bias has no gradient at every third step."""
    rng = np.random.default_rng(100 + step)
    grads = {name: tf.constant(rng.normal(size=s), tf.float32) for name, s in SHAPES.items()}
    return {number: grads | ({"bias": None} if step % 3 == 1 else {}) for number in model}


def numbers(state: Any, model: Parts) -> list[Any]:
    """Values and slots of every leaf."""
    slots = [array for path in sorted(state.paths) for array in state[path].slots.values()]
    values = [model[number][name] for number in sorted(model) for name in sorted(SHAPES)]
    return [np.asarray(value) for value in [*values, *slots]]


def compiled_by_xla(rule_class: type[tx.Rule]) -> list[Any]:
    model = variables(rule_class)
    state = setup(rule_class, model)
    step = tf.function(lambda grads: tx.update(state, model, grads) and None, jit_compile=True)
    for count in range(STEPS):
        step(grads_at(count, model))
    return numbers(state, model)


def assert_close(ours: list[Any], theirs: list[Any], bound: float = 2e-5) -> None:
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, b, rtol=bound, atol=bound)


@every_rule
def test_in_place_pure_and_xla_give_the_same_numbers(rule_class: type[tx.Rule]) -> None:
    model = variables(rule_class)
    live = setup(rule_class, model)
    values: Any = tf.nest.map_structure(tf.constant, start(rule_class))
    state: Any = setup(rule_class, values)
    for count in range(STEPS):
        tx.update(live, model, grads_at(count, model))
        state, values = tx.updated(state, values, grads_at(count, model))
    in_place = numbers(live, model)
    assert all(np.isfinite(array).all() for array in in_place)
    assert_close(numbers(state, values), in_place)
    assert_close(compiled_by_xla(rule_class), in_place, bound=1e-4)


@every_rule
def test_adjusting_and_freezing_reach_a_function_traced_before(rule_class: type[tx.Rule]) -> None:
    model = variables(rule_class)
    state = setup(rule_class, model)
    traces = []

    @tf.function
    def step(batch: Any) -> None:
        traces.append(1)
        tx.update(state, model, tf.nest.map_structure(lambda leaf: batch * (1 + leaf), model))

    def kernels() -> list[Any]:
        arrays = [
            array
            for number in model
            for array in (model[number]["kernel"], *state[f"{number}/kernel"].slots.values())
        ]
        return [array.numpy() for array in arrays]

    step(tf.constant(1.0))
    for number, rule in variants(rule_class).items():
        for name, value in rule.hyperparameters().items():
            if name in rule.governing(f"{number}/kernel", model[number]["kernel"]):
                new = float(value) if isinstance(value, int | float) else 0.25
                tx.adjust(state[number], **{name: new * 0.5})
    step(tf.constant(2.0))
    tx.freeze(state, "*/kernel")
    before = kernels()
    step(tf.constant(3.0))
    assert all(np.array_equal(a, b) for a, b in zip(kernels(), before, strict=True))
    tx.thaw(state)
    step(tf.constant(4.0))
    assert len(traces) == 1


@every_rule
def test_a_part_may_be_stepped_alone(rule_class: type[tx.Rule]) -> None:
    model = variables(rule_class)
    state = setup(rule_class, model)
    before = model["0"]["bias"].numpy()
    grad = grads_at(0, model)["0"]["kernel"]
    tx.update(state["0/kernel"], model["0"]["kernel"], grad)
    assert int(state.step) == 1
    assert np.array_equal(model["0"]["bias"].numpy(), before)


@every_rule
def test_a_checkpoint_brings_back_every_array(rule_class: type[tx.Rule], tmp_path: Any) -> None:
    def trained(steps: range, state: Any, model: Parts) -> list[Any]:
        for count in steps:
            tx.update(state, model, grads_at(3 * count, model))
        return numbers(state, model)

    model = variables(rule_class)
    state = setup(rule_class, model)
    trained(range(2), state, model)
    path = tf.train.Checkpoint(state=state, model=model).save(str(tmp_path / "checkpoint"))
    expected = trained(range(2, STEPS), state, model)

    other = variables(rule_class)
    restored = setup(rule_class, other)
    tf.train.Checkpoint(state=restored, model=other).restore(path).assert_consumed()
    assert_close(trained(range(2, STEPS), restored, other), expected, bound=0)
