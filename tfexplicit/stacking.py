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
    if may_share and creation.live and sum(size_in_bytes(one.leaf.value) for one in begun) >= ways.FROM_BYTES:
        for together, names in _stacks(rule, begun):
            rows |= _in_rows([begun[number] for number in together], together, names, creation)
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
            value = raw(one.leaf.value)
            key = (shape_of(value), dtype_name(value), value.device, frozenset(names))
            alike.setdefault(key, []).append(number)
    found = []
    for (*_, names), numbers in alike.items():
        most = max(1, ways.STACK_BYTES // max(1, size_in_bytes(begun[numbers[0]].leaf.value)))
        for start in range(0, len(numbers), most):
            together = numbers[start : start + most]
            if len(together) >= ways.FEWEST_ROWS:
                found.append((together, set(names)))
    return found


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
    together: Sequence[Begun], numbers: Sequence[int], names: set[str], creation: Creation
) -> dict[int, Slots]:
    first = together[0].leaf
    stacks = {
        name: creation.keep_beside(first, tf.stack([one.start[name] for one in together]), name)
        for name in names
    }
    return {
        number: {name: SlotRow(stack, row) for name, stack in stacks.items()}
        for row, number in enumerate(numbers)
    }
