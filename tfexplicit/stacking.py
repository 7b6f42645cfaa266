"""Slots of small leaves that are alike, kept in few variables, so that one op steps many leaves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import tensorflow as tf

from tfexplicit import ways
from tfexplicit.arrays import constraint_of, dtype_name, is_variable, raw, shape_of, size_in_bytes
from tfexplicit.creation import Creation, strategy_of
from tfexplicit.rule import Rule, Slots
from tfexplicit.slot_row import SlotRow
from tfexplicit.tree import Leaf


@dataclass(frozen=True, eq=False)
class Begun:
    """A new leaf with the values that its slots start from."""

    rule: Rule
    leaf: Leaf
    start: Slots

    @property
    def form(self) -> tuple[Any, ...]:
        value = raw(self.leaf.value)
        return shape_of(value), dtype_name(value), value.device

    @cached_property
    def shareable(self) -> set[str]:
        """The slots that a fused op writes for a small leaf; none for other leaves."""
        value = self.leaf.value
        is_plain = is_variable(value) and constraint_of(value) is None
        if not is_plain or strategy_of(value) is not None or dtype_name(value) not in ways.DTYPES:
            return set()
        if None in shape_of(value) or size_in_bytes(value) > ways.SMALL_BYTES:
            return set()
        fused = self.rule.fused(self.leaf.path, value)
        slots = set() if fused is None else fused.slots
        return slots if all(map(self._is_of_its_form, slots)) else set()

    def _is_of_its_form(self, name: str) -> bool:
        slot, value = self.start[name], self.leaf.value
        return shape_of(slot) == shape_of(value) and dtype_name(slot) == dtype_name(value)


def slot_cells(begun: Sequence[Begun], creation: Creation, may_share: bool) -> list[Slots]:
    """For each leaf its slots: rows of shared variables where that pays, else their own."""
    is_worth_it = sum(size_in_bytes(one.leaf.value) for one in begun) >= ways.FROM_BYTES
    rows = _rows(begun, creation) if may_share and is_worth_it else {}
    return [_cells(one, rows.get(one, {}), creation) for one in begun]


def _cells(one: Begun, shared: Slots, creation: Creation) -> Slots:
    return {
        name: shared[name] if name in shared else creation.keep_beside(one.leaf, value, name)
        for name, value in one.start.items()
    }


def _rows(begun: Sequence[Begun], creation: Creation) -> dict[Begun, Slots]:
    rows: dict[Begun, Slots] = {}
    scratches: dict[Any, Any] = {}
    for count, together in enumerate(_stacks(begun)):
        first = together[0]
        # Those that are in memory at the same time must not use the same one.
        key = (count % ways.STACKS_AT_A_TIME, *first.form, len(together))
        if key not in scratches:
            zeros = tf.zeros([len(together), *first.form[0]], first.form[1])
            scratches[key] = creation.keep_beside(first.leaf, zeros, "scratch")
        for name in first.shareable:
            start = tf.stack([one.start[name] for one in together])
            stack = creation.keep_beside(first.leaf, start, name)
            for row, one in enumerate(together):
                rows.setdefault(one, {})[name] = SlotRow(stack, row, scratches[key])
    return rows


def _stacks(begun: Sequence[Begun]) -> Iterator[Sequence[Begun]]:
    """Leaves whose slots share variables."""
    alike: dict[Any, list[Begun]] = {}
    for one in begun:
        if one.shareable:
            alike.setdefault((*one.form, frozenset(one.shareable)), []).append(one)
    for leaves in alike.values():
        most = max(1, ways.STACK_BYTES // max(1, size_in_bytes(leaves[0].leaf.value)))
        for start in range(0, len(leaves), most):
            together = leaves[start : start + most]
            if len(together) >= ways.FEWEST_ROWS:
                yield together
