"""Leaves that XLA steps by the formula: the same numbers, frozen leaves at rest, few programs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import tfexplicit as tx
from tfexplicit import ways
from tfexplicit.rules import all_rules

SHAPES = {"one": (4, 3), "alike": (4, 3), "other": (5,)}


CHAINS = [
    tx.Chain(tx.ClipByGlobalNorm(0.3), tx.AdamW(0.01, weight_decay=0.1)),
    tx.Chain(tx.SkipNonFinite(), tx.Lion(0.01), tx.DecoupledWeightDecay(where="**/one")),
    tx.Chain(tx.AccumulateGrads(3), tx.Nadam(0.01), tx.EMA(0.9)),
    tx.Partition({"**/one": tx.Lion(0.01), "**": tx.Chain(tx.SGD(0.1), tx.EMA(0.9))}),
    tx.DecayedFirst(tx.Adam(0.01), 0.1),
]


def elementwise_rules() -> list[tx.Rule]:
    every = [rule for cls in all_rules.values() for rule in cls.variants()]
    # Those that move a leaf by themselves; modifiers are in CHAINS.
    return [rule for rule in every if rule.elementwise and "learning_rate" in str(rule)]


@pytest.fixture(autouse=True)
def _small_leaves_count_as_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ways, "FROM_BYTES", 0)
    monkeypatch.setattr(ways, "SMALL_BYTES", -1)


def programs_in(function: Any) -> int:
    """How many functions its graph hands to XLA."""
    library = function.graph.as_graph_def().library.function
    return sum("_XlaMustCompile" in each.attr for each in library)


def trained(rules: dict[str, tx.Rule], dtype: str) -> tuple[Any, Any, int]:
    """All rules side by side: the model, its state, and the number of programs for XLA."""
    rng = np.random.default_rng(1)
    model = {
        number: {n: tf.Variable(rng.normal(size=s), dtype=dtype) for n, s in SHAPES.items()}
        for number in rules
    }
    state = tx.setup({f"{number}/**": rule for number, rule in rules.items()}, model)

    @tf.function(autograph=False)
    def step(grads: Any) -> None:
        tx.update(state, model, dict.fromkeys(rules, grads))

    def at_rest() -> list[Any]:
        slots = [slot for n in rules for slot in state[f"{n}/one"].slots.values()]
        return [array.numpy() for array in (*(model[n]["one"] for n in rules), *slots)]

    for number in range(12):
        grads = {n: tf.constant(rng.normal(size=s), dtype) for n, s in SHAPES.items()}
        if number == 4:
            tx.adjust(state, learning_rate=0.02)
            tx.freeze(state, "*/one")
            before = at_rest()
        if 4 <= number < 7:
            grads["one"] = grads["one"] * np.nan
        step(grads)
        if number == 6:
            for old, new in zip(before, at_rest(), strict=True):
                np.testing.assert_array_equal(old, new)
            tx.thaw(state, "*/one")
    return model, state, programs_in(step.get_concrete_function(grads))


@pytest.mark.parametrize(
    # Where it goes by Adam's op, that takes `1 - beta_2` in float32.
    ("rules", "dtype", "tolerance"),
    [
        (CHAINS, "float32", 1e-5),
        pytest.param(elementwise_rules(), "float32", 2e-5, marks=pytest.mark.slow),
        pytest.param(elementwise_rules(), "float64", 1e-11, marks=pytest.mark.slow),
    ],
    ids=["chains", "all", "all in float64"],
)
def test_xla_makes_the_step_of_the_formula(
    rules: list[tx.Rule], dtype: str, tolerance: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A leaf is frozen for some steps in which its gradient is NaN; then all goes on."""
    numbered = {str(number): rule for number, rule in enumerate(rules)}
    model, state, programs = trained(numbered, dtype)
    monkeypatch.setenv("TFEXPLICIT_STEP", "formula")
    other_model, other_state, none = trained(numbered, dtype)
    assert programs > len(rules)
    assert none == 0
    for number, rule in numbered.items():
        for name, leaf in model[number].items():
            slots, others = (s[f"{number}/{name}"].slots for s in (state, other_state))
            pairs = [(leaf, other_model[number][name]), *((slots[s], others[s]) for s in slots)]
            for ours, theirs in pairs:
                scale = np.max(np.abs(theirs.numpy()))
                np.testing.assert_allclose(
                    ours.numpy(), theirs.numpy(), rtol=0, atol=tolerance * scale, err_msg=repr(rule)
                )


def step_of(rule: tx.Rule, shapes: list[list[int]], dtype: str = "float32") -> Any:
    model = [tf.Variable(tf.ones(shape, dtype)) for shape in shapes]
    state = tx.setup(rule, model)

    @tf.function(autograph=False)
    def step() -> None:
        tx.update(state, model, [tf.ones(shape, dtype) for shape in shapes])

    return step, state, model


@pytest.mark.parametrize(
    "rule",
    [
        tx.Lion(),
        tx.AdamW(),
        tx.Chain(tx.ClipByGlobalNorm(1.0), tx.AdamW()),
        tx.Chain(tx.AccumulateGrads(2), tx.RMSprop()),
    ],
    ids=repr,
)
def test_leaves_of_one_shape_share_a_program(rule: tx.Rule) -> None:
    step, _, _ = step_of(rule, [[4, 3]] * 6 + [[5]] * 3)
    assert programs_in(step.get_concrete_function()) == 2


def test_leaves_that_are_not_stepped_alike_do_not_share_a_program() -> None:
    rule = tx.Chain(tx.RMSprop(), tx.DecoupledWeightDecay(where=lambda path, leaf: path == "1"))
    step, _, model = step_of(rule, [[3]] * 2)
    step()
    assert programs_in(step.get_concrete_function()) == 2
    assert not np.array_equal(model[0], model[1])


def test_a_formula_of_ones_own_is_compiled_only_if_it_says_so() -> None:
    class Own(tx.Lion):
        def apply(self, slots: Any, leaf: Any, grad: Any, step: Any) -> tuple[Any, Any]:
            return tf.numpy_function(lambda value: value / 2, [grad], grad.dtype), slots

    class Able(tx.Lion):
        elementwise = True

        def apply(self, slots: Any, leaf: Any, grad: Any, step: Any) -> tuple[Any, Any]:
            return grad / 2, slots

    for rule, programs in ((Own(), 0), (tx.Chain(Own(), tx.EMA()), 0), (Able(), 1)):
        step, _, model = step_of(rule, [[3]])
        step()
        assert programs_in(step.get_concrete_function()) == programs
        np.testing.assert_array_equal(model[0], np.full(3, 0.5))


@pytest.mark.parametrize("rule", [tx.Lion, tx.Adam])
def test_a_formula_from_a_class_that_is_no_rule_counts_as_ones_own(rule: type[tx.Rule]) -> None:
    class Halved:
        def apply(self, slots: Any, leaf: Any, grad: Any, step: Any) -> tuple[Any, Any]:
            return tf.numpy_function(lambda value: value / 2, [grad], grad.dtype), slots

    class Own(Halved, rule):  # type: ignore[valid-type, misc]
        pass

    step, _, (leaf,) = step_of(Own(), [[3]])
    step()
    np.testing.assert_array_equal(leaf, np.full(3, 0.5))


def test_a_half_leaf_rounds_as_by_the_formula(monkeypatch: pytest.MonkeyPatch) -> None:
    rule = tx.MixedPrecision(tx.Chain(tx.ClipByValue(0.5), tx.AdamW(0.01)))
    for each in (rule, tx.Lion(0.01)):
        step, _, (leaf,) = step_of(each, [[7]], "bfloat16")
        monkeypatch.setenv("TFEXPLICIT_STEP", "formula")
        other_step, _, (other,) = step_of(each, [[7]], "bfloat16")
        monkeypatch.delenv("TFEXPLICIT_STEP")
        for _ in range(10):
            step()
            monkeypatch.setenv("TFEXPLICIT_STEP", "formula")
            other_step()
            monkeypatch.delenv("TFEXPLICIT_STEP")
        np.testing.assert_array_equal(leaf, other)


def test_a_saved_step_goes_on(tmp_path: Path) -> None:
    step, state, model = step_of(tx.Chain(tx.ClipByGlobalNorm(1.0), tx.AdamW(0.1)), [[3], [3]])
    module = tf.Module()
    module.leaves, module.state = model, state
    module.step = tf.function(step, input_signature=[])
    module.step()
    tf.saved_model.save(module, str(tmp_path))
    loaded = tf.saved_model.load(str(tmp_path))
    loaded.step()
    step()
    for ours, theirs in zip(model, loaded.leaves, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_nothing_is_compiled_where_each_op_is_watched() -> None:
    tf.debugging.enable_check_numerics()
    try:
        step, _, (leaf,) = step_of(tx.Lion(0.1), [[3]])
        step()
    finally:
        tf.debugging.disable_check_numerics()
    np.testing.assert_array_equal(leaf, np.float32([0.9] * 3))
    tf.config.run_functions_eagerly(True)
    try:
        step, state, _ = step_of(tx.Lion(), [[3]])
        assert "compiled" not in str(state)
        step()
    finally:
        tf.config.run_functions_eagerly(False)
    assert "compiled" in str(state)


def test_a_printed_state_says_so() -> None:
    _, state, _ = step_of(tx.AdamW(), [[3]])
    assert str(state).endswith("momentum velocity compiled")
