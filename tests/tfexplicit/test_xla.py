"""What XLA makes of a step: no copies, few fusions; and frozen leaves that keep every bit."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import tfexplicit as tx
from tfexplicit.rules import all_rules

SHAPES = ([40, 30], [50])


def compiled_step(state: Any, model: Any) -> Any:
    @tf.function(autograph=False, jit_compile=True)
    def step(grads: Any) -> None:
        tx.update(state, model, grads)

    return step


def resting_rules() -> list[tx.Rule]:
    """Those that rest by numbers; and a chain of them."""
    every = [rule for cls in all_rules.values() for rule in cls.variants()]
    steps = [rule for rule in every if rule.moves and rule.keeps_slots_with is not None]
    clipped = tx.Chain(tx.WeightDecay(0.1), tx.ClipByNorm(0.5), tx.Adam(0.01))
    # Its factor is NaN where any gradient is: no number to rest by.
    unknown = tx.Chain(tx.ClipByGlobalNorm(0.5), tx.Adam(0.01))
    assert unknown.keeps_slots_with is None
    return [*(rule for rule in steps if not isinstance(rule, tx.Chain)), clipped, unknown]


@pytest.mark.parametrize("rule", [tx.Adam(), tx.AdamW(), tx.SGD(momentum=0.9)], ids=repr)
def test_each_array_is_one_fusion_that_writes_where_it_reads(rule: tx.Rule) -> None:
    """Adam reads and writes 40 bytes for a parameter so; the least is 28, in a single fusion of
    several outputs, which XLA does not make for a CPU."""
    model = [tf.Variable(tf.ones(shape)) for shape in SHAPES]
    state = tx.setup(rule, model)
    grads = [tf.ones(shape) for shape in SHAPES]
    text = compiled_step(state, model).experimental_get_compiler_ir(grads)(stage="optimized_hlo")
    entry = text[text.index("ENTRY") :]
    arrays = 1 + len(state["0"].slots)
    for shape in ("40,30", "50"):
        assert len(re.findall(rf"= f32\[{shape}\]\S* fusion\(", entry)) == arrays
        assert not re.findall(rf"= f32\[{shape}\]\S* copy\(", entry)
    aliased = len(re.findall("may-alias|must-alias", text.splitlines()[0]))
    # The step and two vectors of counts beside them.
    assert aliased == len(SHAPES) * arrays + 3


def test_a_frozen_leaf_keeps_every_bit_whatever_the_rule() -> None:
    rules = dict(enumerate(resting_rules()))
    rng = np.random.default_rng(0)
    model = {
        str(number): [tf.Variable(rng.normal(size=shape), dtype=tf.float32) for shape in SHAPES]
        for number in rules
    }
    twin = {name: [tf.Variable(leaf) for leaf in leaves] for name, leaves in model.items()}
    choice = {f"{number}/**": rule for number, rule in rules.items()}
    state, other = tx.setup(choice, model), tx.setup(choice, twin)
    step = compiled_step(state, model)

    def numbers(leaf: str) -> list[Any]:
        of_slots = [slot.numpy() for n in model for slot in state[f"{n}/{leaf}"].slots.values()]
        return [*(leaves[int(leaf)].numpy() for leaves in model.values()), *of_slots]

    for number in range(6):
        grads = [tf.constant(rng.normal(size=shape), tf.float32) for shape in SHAPES]
        if number == 2:
            for each in (state, other):
                tx.freeze(each, "*/1")
            before = numbers("1")
        if number in (2, 3):
            grads[1] = grads[1] * np.nan
        step(dict.fromkeys(model, grads))
        tx.update(other, twin, dict.fromkeys(model, grads))
        if number == 3:
            for old, new in zip(before, numbers("1"), strict=True):
                np.testing.assert_array_equal(old, new)
            for each in (state, other):
                tx.thaw(each, "*/1")
    for name, leaves in model.items():
        for one, two in zip(leaves, twin[name], strict=True):
            np.testing.assert_allclose(
                one, two, rtol=1e-4, atol=1e-5, err_msg=repr(rules[int(name)])
            )


def test_a_frozen_leaf_is_not_reached_by_the_nan_of_another() -> None:
    model = [tf.Variable(tf.ones([2])) for _ in range(2)]
    state = tx.setup(tx.Chain(tx.ClipByGlobalNorm(1.0), tx.Adam(0.1)), model)
    step = compiled_step(state, model)
    tx.freeze(state, "0")
    step([tf.ones([2]), tf.fill([2], np.nan)])
    for array in (model[0], *state["0"].slots.values()):
        assert np.isfinite(array).all()
