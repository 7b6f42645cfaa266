"""What every rule can do, whatever its formula: each class in `tfexplicit/rules`, each variant.

A rule that only changes gradients (`moves` is False) is tried in a chain with SGD, but need not
learn: decay and the like pull elsewhere. Learning rates mean different things to different rules,
so a rule learns if it does so at one of `RATES`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import tfexplicit as tx
from tfexplicit.composite import Composite
from tfexplicit.rules import all_rules

# None: the learning rate that the variant came with.
RATES = (None, 0.1, 0.01, 0.003, 1.0, 10.0)
each_rule = pytest.mark.parametrize("rule_class", all_rules.values(), ids=all_rules)
learners = {
    name: rule_class
    for name, rule_class in all_rules.items()
    if all(rule.moves and not isinstance(rule, Composite) for rule in rule_class.variants())
}
each_learner = pytest.mark.parametrize("rule_class", learners.values(), ids=learners)


def variants(rule_class: type[tx.Rule]) -> dict[str, tx.Rule]:
    return {
        str(number): rule if rule.moves else tx.Chain(rule, tx.SGD(0.1))
        for number, rule in enumerate(rule_class.variants())
    }


def setup(rules: dict[str, tx.Rule], model: dict[str, Any]) -> tx.OptState:
    return tx.setup({f"{number}/**": rule for number, rule in rules.items()}, model)


def admits(rule: tx.Rule, rate: float) -> bool:
    """False for a rule without a learning rate, or one that must be smaller."""
    bounds = [b for name, b in rule.bounds().items() if name.split("/")[-1] == "learning_rate"]
    return bool(bounds) and all(each.admit(rate) for each in bounds)


class FromTheStart:
    """Puts a model and its state back to where they were."""

    def __init__(self, model: Any, state: tx.OptState) -> None:
        self.cells = [*tf.nest.flatten(model), *state.cells()]
        self.values = [tf.identity(cell) for cell in self.cells]

    def again(self) -> None:
        for cell, value in zip(self.cells, self.values, strict=True):
            cell.assign(value)


RNG = np.random.default_rng(1)
HIDDEN = RNG.normal(size=(10, 10)) * 0.15
PRODUCT = RNG.uniform(size=(3, 3)) * RNG.uniform(size=(3, 3))
START = {
    "w": RNG.normal(size=(10, 10)) * 0.8,
    "sum": RNG.permutation(np.arange(1.0, 65.0)).reshape(8, 8) / 8,
    "alpha": 5 * RNG.uniform(size=(3, 3)),
    "beta": RNG.uniform(size=(3, 3)),
}
# Optimisers.jl asks for the same after 10^5, 10^5 and 10^4 steps at its default rates.
BOUNDS = {"least squares": 0.01, "simple sum": 0.02, "original": 0.001}
STEPS = 3000


def losses(leaves: dict[str, Any], x: Any) -> dict[str, Any]:
    """The problems of the tests of Optimisers.jl; they share no leaf."""
    return {
        "least squares": tf.reduce_mean(tf.square((leaves["w"] - HIDDEN) @ x)),
        "simple sum": tf.reduce_mean(tf.square(leaves["sum"] + tf.transpose(leaves["sum"]))),
        "original": tf.reduce_mean(tf.square(leaves["alpha"] * leaves["beta"] - PRODUCT)),
    }


@each_learner
def test_a_rule_learns_in_compiled_steps(rule_class: type[tx.Rule]) -> None:
    rules = variants(rule_class)
    model = {number: {name: tf.Variable(v) for name, v in START.items()} for number in rules}
    state = setup(rules, model)
    start = FromTheStart(model, state)

    @tf.function(jit_compile=True)
    def train() -> None:
        for i in tf.range(STEPS):
            x = tf.random.stateless_uniform([10, 20], [i, 0], dtype=tf.float64)
            with tf.GradientTape() as tape:
                loss = sum(sum(losses(leaves, x).values()) for leaves in model.values())
            tx.update(state, model, tape.gradient(loss, model))

    # The same for every rule, whichever are tried before.
    x = tf.constant(np.random.default_rng(2).uniform(size=(10, 10)))
    missed = {(number, problem): [] for number in rules for problem in BOUNDS}
    for rate in RATES:
        start.again()
        if rate is not None and admits(rules["0"], rate):
            tx.adjust(state, learning_rate=rate)
        train()
        for number in rules:
            for problem, loss in losses(model[number], x).items():
                if (number, problem) in missed:
                    missed[number, problem].append(float(loss))
                    if float(loss) < BOUNDS[problem]:
                        del missed[number, problem]
        if not missed:
            return
    assert not missed, f"{rules}: {missed} at the rates {RATES}"


@each_rule
def test_a_rule_keeps_the_dtypes_of_leaves_and_slots(rule_class: type[tx.Rule]) -> None:
    """Finite with the numbers of Optimisers.jl#167, where a float16 epsilon was 0."""
    values, grad = [0.579, -0.729, 0.5493, 0.25], [-0.001497, 0.0001875, -0.013176, 0.0]
    dtypes = ["float16", "bfloat16", "float32", "float64"]
    if rule_class.takes_complex:
        dtypes += ["complex64", "complex128"]
    rules = variants(rule_class)
    model = {n: {d: tf.Variable(tf.cast(values, d)) for d in dtypes} for n in rules}
    grads = {n: {d: tf.cast(grad, d) for d in dtypes} for n in rules}
    state = setup(rules, model)
    slot_dtypes = [cell.dtype for cell in state.cells()]
    for _ in range(3):
        tx.update(state, model, grads)
    assert [cell.dtype for cell in state.cells()] == slot_dtypes
    for number, leaves in model.items():
        for dtype, leaf in leaves.items():
            assert leaf.dtype == dtype
            moved = np.abs(tf.cast(leaf, "complex128").numpy() - values)
            assert np.all(np.isfinite(moved)), f"{rules[number]} with {dtype}"
    slots = [cell for group in state.groups for own in group.slots for cell in own.values()]
    assert all(np.all(np.isfinite(tf.cast(slot, "complex128"))) for slot in slots)


@each_rule
def test_a_rule_takes_every_type_of_gradient(rule_class: type[tx.Rule]) -> None:
    start = [[1.0, -1.0], [2.0, 0.5], [0.25, 3.0]]
    numbers = np.array([[0, 0], [1, 2], [-3, 5]])
    grads = {
        "dense": tf.constant(numbers, tf.float32),
        "integers": tf.constant(numbers),
        "numpy": numbers.astype(np.float64),
        "slices": tf.IndexedSlices(
            tf.constant([[1.0, 2.0], [-1.0, 1.0], [-2.0, 4.0]]),
            tf.constant([1, 2, 2]),
            tf.constant([3, 2]),
        ),
        "missing": None,
    }
    rules = variants(rule_class)
    model = {number: {name: tf.Variable(start) for name in grads} for number in rules}
    state = setup(rules, model)
    for _ in range(2):
        tx.update(state, model, dict.fromkeys(rules, grads))
    for leaves in model.values():
        np.testing.assert_array_equal(leaves["missing"], start)
        assert np.all(leaves["dense"].numpy()[1:] != np.array(start)[1:])
        for name in ("integers", "numpy", "slices"):
            np.testing.assert_allclose(leaves[name], leaves["dense"], rtol=1e-6)


complex_rules = {name: rule for name, rule in learners.items() if rule.takes_complex}


@pytest.mark.parametrize("rule_class", complex_rules.values(), ids=complex_rules)
def test_the_loss_of_a_complex_leaf_falls_at_every_step(rule_class: type[tx.Rule]) -> None:
    """`w * (1 + i)` learns the conjugate, from w = 0: Flux#1776."""
    rules = variants(rule_class)
    model = {number: {"w": tf.Variable([0j], dtype=tf.complex128)} for number in rules}
    state = setup(rules, model)
    start = FromTheStart(model, state)

    def loss(number: str) -> Any:
        x = tf.constant(1 + 1j, tf.complex128)
        return tf.reduce_sum(tf.square(tf.abs(model[number]["w"] * x - tf.math.conj(x))))

    @tf.function
    def train() -> Any:
        seen = tf.TensorArray(tf.float64, 11)
        for i in tf.range(11):
            with tf.GradientTape() as tape:
                every = tf.stack([loss(number) for number in rules])
            seen = seen.write(i, every)
            tx.update(state, model, tape.gradient(every, model))
        return seen.stack()

    learned = np.zeros(len(rules), bool)
    for rate in RATES:
        start.again()
        if rate is not None and admits(rules["0"], rate):
            tx.adjust(state, learning_rate=rate)
        seen = train().numpy()
        np.testing.assert_allclose(seen[0], 2.0)
        learned |= np.all(np.diff(seen, axis=0) < 0, axis=0) & (seen[-1] < 1.9)
    assert np.all(learned), rules
