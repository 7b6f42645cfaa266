"""Slots of small leaves that are alike, kept in few variables, so that one op steps many leaves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from tfexplicit import ways
from tfexplicit.arrays import constraint_of, dtype_name, is_variable, raw, shape_of, size_in_bytes
from tfexplicit.creation import Creation, strategy_of
from tfexplicit.rule import Rule, Slots
from tfexplicit.slot_row import SlotRow
from tfexplicit.tree import Leaf


@dataclass(frozen=True)
class Begun:
    """A new leaf with the values that its slots start from."""

    leaf: Leaf
    start: Slots

    def of_its_form(self, names: set[str]) -> bool:
        """True if these slots have the leaf's own shape and dtype."""
        return all(
            shape_of(self.start[name]) == shape_of(self.leaf.value)
            and dtype_name(self.start[name]) == dtype_name(self.leaf.value)
            for name in names
        )


def slot_cells(
    rule: Rule, begun: Sequence[Begun], creation: Creation, may_share: bool
) -> list[Slots]:
    """For each leaf its slots: rows of shared variables where that pays, else their own."""
    rows: dict[int, Slots] = {}
    if (
        may_share
        and creation.live
        and sum(size_in_bytes(one.leaf.value) for one in begun) >= ways.FROM_BYTES
    ):
        scratches: dict[Any, Any] = {}
        for count, (together, names) in enumerate(_stacks(rule, begun)):
            leaves = [begun[number] for number in together]
            # Those that are in memory at the same time must not use the same one.
            key = (count % ways.STACKS_AT_A_TIME, *_form(leaves[0]), len(leaves))
            if key not in scratches:
                scratches[key] = creation.keep_beside(leaves[0].leaf, _zeros(leaves), "scratch")
            rows |= _in_rows(leaves, together, names, scratches[key], creation)
    return [
        {
            name: rows[number][name]
            if name in rows.get(number, {})
            else creation.keep_beside(one.leaf, value, name)
            for name, value in one.start.items()
        }
        for number, one in enumerate(begun)
    ]


def _stacks(rule: Rule, begun: Sequence[Begun]) -> list[tuple[list[int], set[str]]]:
    """Which leaves share variables, and for which slots."""
    alike: dict[Any, list[int]] = {}
    for number, one in enumerate(begun):
        names = _shareable(rule, one)
        if names:
            alike.setdefault((*_form(one), frozenset(names)), []).append(number)
    found = []
    for (*_, names), numbers in alike.items():
        most = max(1, ways.STACK_BYTES // max(1, size_in_bytes(begun[numbers[0]].leaf.value)))
        for start in range(0, len(numbers), most):
            together = numbers[start : start + most]
            if len(together) >= ways.FEWEST_ROWS:
                found.append((together, set(names)))
    return found


def _form(one: Begun) -> tuple[Any, ...]:
    value = raw(one.leaf.value)
    return shape_of(value), dtype_name(value), value.device


def _zeros(together: Sequence[Begun]) -> Any:
    value = raw(together[0].leaf.value)
    return tf.zeros([len(together), *value.shape], value.dtype)


def _shareable(rule: Rule, one: Begun) -> set[str]:
    """The slots that a fused op writes for a small leaf; none for other leaves."""
    value = one.leaf.value
    if not is_variable(value) or constraint_of(value) is not None or strategy_of(value) is not None:
        return set()
    is_small = None not in shape_of(value) and size_in_bytes(value) <= ways.SMALL_BYTES
    if not is_small or dtype_name(value) not in ways.DTYPES:
        return set()
    fused = rule.fused(one.leaf.path, value)
    return fused.slots if fused is not None and one.of_its_form(fused.slots) else set()


def _in_rows(
    together: Sequence[Begun],
    numbers: Sequence[int],
    names: set[str],
    scratch: Any,
    creation: Creation,
) -> dict[int, Slots]:
    first = together[0].leaf
    stacks = {
        name: creation.keep_beside(first, tf.stack([one.start[name] for one in together]), name)
        for name in names
    }
    return {
        number: {name: SlotRow(stack, row, scratch) for name, stack in stacks.items()}
        for row, number in enumerate(numbers)
    }
