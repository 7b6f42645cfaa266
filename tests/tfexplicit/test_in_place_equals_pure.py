"""Every rule there is, on models of any make: a step in place gives what the pure step gives."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tfexplicit as tx
from tfexplicit.rules import all_rules

VARIANTS = [rule for name in sorted(all_rules) for rule in all_rules[name].variants()]
every_rule = pytest.mark.parametrize("rule", VARIANTS, ids=repr)
first_in_ci = pytest.mark.parametrize(
    "rule",
    [
        pytest.param(rule, id=repr(rule), marks=pytest.mark.slow if number else ())
        for name in sorted(all_rules)
        for number, rule in enumerate(all_rules[name].variants())
    ],
)

SHAPES = [(2, 3), (3,), (3, 2), ()]


class Named(NamedTuple):
    first: Any
    rest: Any


@dataclasses.dataclass
class Data:
    first: Any
    rest: Any


MAKERS = {
    "list": list,
    "tuple": tuple,
    "dict": lambda parts: {f"k{number}": part for number, part in enumerate(parts)},
    "named": lambda parts: Named(parts[0], parts[1:]),
    "data": lambda parts: Data(parts[0], tuple(parts[1:])),
}

# A number stands for a leaf, so that one that comes again is tied.
OUTLINES = st.recursive(
    st.integers(0, len(SHAPES) - 1),
    lambda inner: st.tuples(
        st.sampled_from(sorted(MAKERS)), st.lists(inner, min_size=1, max_size=3)
    ),
    max_leaves=6,
)
# For each leaf, over the steps.
FORMS = st.lists(st.sampled_from(["dense", "none", "sparse"]), min_size=3, max_size=9)


@pytest.fixture(autouse=True)
def op_by_op() -> Iterator[None]:
    """Both steps in the same ops and nothing compiled: quick, and equal to the last bit."""
    tf.config.run_functions_eagerly(True)
    yield
    tf.config.run_functions_eagerly(False)


def built(outline: Any, leaves: list[Any]) -> Any:
    if isinstance(outline, int):
        return leaves[outline]
    kind, parts = outline
    return MAKERS[kind]([built(part, leaves) for part in parts])


def gradient(rng: np.random.Generator, shape: tuple[int, ...], form: str) -> Any:
    if form == "none":
        return None
    if form == "dense" or not shape:
        return tf.constant(rng.normal(size=shape), tf.float32)
    ids = rng.integers(0, shape[0], size=3)
    rows = tf.constant(rng.normal(size=(3, *shape[1:])), tf.float32)
    return tf.IndexedSlices(rows, tf.constant(ids), tf.constant(shape))


def numbers(state: Any, model: Any) -> list[Any]:
    slots = [array for path in state.paths for array in state[path].slots.values()]
    return [np.asarray(value) for value in [*tx.trainables(model), *slots, state.step]]


def assert_equal(ours: list[Any], theirs: list[Any]) -> None:
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(a, b)


def without_changing(live: Any, variables: Any, grads: list[Any]) -> list[Any]:
    before = numbers(live, variables)
    after = numbers(*tx.updated(live, variables, grads))
    assert_equal(numbers(live, variables), before)
    return after


def check(rule: tx.Rule, outline: Any, forms: list[str], steps: int) -> None:
    rng = np.random.default_rng(7)
    starts = [rng.normal(size=shape).astype("float32") for shape in SHAPES]
    variables = built(outline, [tf.Variable(start) for start in starts])
    values = built(outline, [tf.constant(start) for start in starts])
    with warnings.catch_warnings():
        # That a glob of the rule matches no path of the model.
        warnings.simplefilter("ignore", UserWarning)
        live, state = tx.setup(rule, variables), tx.setup(rule, values)
    shapes = [tuple(leaf.shape) for leaf in tx.trainables(variables)]
    for step in range(steps):
        grads = [
            gradient(rng, shape, forms[(step + place) % len(forms)])
            for place, shape in enumerate(shapes)
        ]
        if all(grad is None for grad in grads):
            grads[0] = gradient(rng, shapes[0], "dense")
        expected = without_changing(live, variables, grads) if step == 0 else None
        tx.update(live, variables, grads)
        state, values = tx.updated(state, values, grads)
        in_place = numbers(live, variables)
        assert_equal(numbers(state, values), in_place)
        if expected is not None:
            assert_equal(expected, in_place)
        assert all(np.isfinite(array).all() for array in in_place)


settled = settings(
    max_examples=5, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)


@every_rule
@settled
@given(outline=OUTLINES, forms=FORMS)
def test_a_step_in_place_equals_the_pure_step(rule: tx.Rule, outline: Any, forms: Any) -> None:
    check(rule, outline, forms, steps=2)


@pytest.mark.slow
@every_rule
@settings(settled, max_examples=60)
@given(outline=OUTLINES, forms=FORMS)
def test_many_steps_in_place_equal_pure_steps(rule: tx.Rule, outline: Any, forms: Any) -> None:
    check(rule, outline, forms, steps=4)


@first_in_ci
def test_group_p_thirteen_steps_in_place_equal_thirteen_pure_steps(rule: tx.Rule) -> None:
    """Optimisers.jl: "mutable path == immutable path exactly", for every rule."""
    model = ("dict", [0, ("named", [1, 3, 0])])
    check(rule, model, ["dense", "dense", "none", "dense", "sparse"], steps=13)
