"""A state as a value: copies, comparison, and how TensorFlow takes it apart."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tfexplicit.arrays import raw, read
from tfexplicit.group import Group
from tfexplicit.tree import parse

if TYPE_CHECKING:
    from tfexplicit.state import OptState


@dataclass(frozen=True, eq=False)
class Frame:
    """A state without its arrays: what two states must share for one trace to serve both.

    A state whose arrays are variables is its own frame, since a trace captures variables.
    """

    state: OptState

    @property
    def _likeness(self) -> tuple[Any, ...]:
        state = self.state
        if state.is_live:
            return (id(state),)
        return (id(state.plan), *((id(group.rule), group.paths) for group in state.groups))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Frame) and self._likeness == other._likeness

    def __hash__(self) -> int:
        return hash(self._likeness)


def taken_apart(state: OptState) -> tuple[Frame, tuple[Any, ...]]:
    if state.is_live:
        return Frame(state), ()
    cells = state.cells()
    return Frame(state.with_cells([None] * len(cells))), tuple(cells)


def put_together(frame: Frame, cells: Sequence[Any]) -> OptState:
    return frame.state if frame.state.is_live else frame.state.with_cells(cells)


def are_equal(one: OptState, other: OptState) -> bool:
    """The same leaves under like rules, and all arrays equal (NaN as NaN)."""
    if one.paths != other.paths or _rules(one) != _rules(other):
        return False
    pairs = list(zip(one.cells(), other.cells(), strict=True))
    return all(_same(read(a), read(b)) for a, b in pairs)


def _rules(state: OptState) -> list[str]:
    return [repr(group.rule) for group in state.groups for _ in group.paths]


def _same(a: Any, b: Any) -> bool:
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    exact = a.dtype.is_integer or a.dtype.is_bool
    return np.array_equal(a.numpy(), b.numpy(), equal_nan=not exact)


def copy_of(state: OptState, memo: dict[int, Any]) -> OptState:
    """Arrays of its own, for the same model; for its copy, if that was copied along before."""
    owner = state.plan.taken_over
    if owner is not None and owner.counts_itself:
        raise TypeError(
            f"this state is of a Keras {type(owner.optimizer).__name__}, which is stepped by its "
            "own update and keeps one set of arrays. Use a rule such as tx.Adam() to copy it."
        )
    # A plan of its own: what is compiled for the first state must not serve the second.
    model = memo.get(id(state.plan.model), state.plan.model)
    plan = replace(
        state.plan,
        model=model,
        taken_over=None,
        compiled={},
        set_before=copy.deepcopy(state.plan.set_before),
    )
    cells = state.cells()
    if state.is_live:
        cells = [copy.deepcopy(raw(cell), memo) for cell in cells]
    same = state.with_cells(cells)
    is_copied = model is not state.plan.model
    by_path = {leaf.path: leaf.value for leaf in parse(model).leaves} if is_copied else {}
    groups = [replace(group, targets=_copied(group, memo, by_path)) for group in same.groups]
    return type(state)(plan, same.step, groups)


def _copied(group: Group, memo: dict[int, Any], leaves: Mapping[str, Any]) -> tuple[Any, ...]:
    """Keras copies a model through its configuration, so that no variable is known by identity."""
    return tuple(
        memo.get(id(target), leaves.get(path, target))
        for path, target in zip(group.paths, group.targets, strict=True)
    )
