"""Compares two trajectories, update by update, then what the variables hold at the end."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import zip_longest

from tfexplicit_codemod.verify.differences import (
    UNITS_AT_FIRST,
    UNITS_LATER,
    Difference,
    differences_of,
    differences_of_state,
)
from tfexplicit_codemod.verify.order import difference_in_order
from tfexplicit_codemod.verify.records import Trajectory

THE_END = "the end"


@dataclass(frozen=True)
class Comparison:
    """`relative` is the largest difference of each update that was compared, `largest` that of all.

    `beyond` are the differences beyond rounding of the first place that has any, the largest leaf
    first; `position` counts the updates before that place.
    """

    leaves: int
    relative: tuple[float, ...]
    largest: Difference | None
    beyond: tuple[Difference, ...]
    position: int

    @property
    def updates(self) -> int:
        return len(self.relative)

    @property
    def first(self) -> Difference | None:
        return self.beyond[0] if self.beyond else None

    @property
    def equal(self) -> bool:
        return not self.beyond

    @property
    def bit_for_bit(self) -> bool:
        return self.largest is None and self.equal


def compare(before: Trajectory, after: Trajectory, tolerance: float = 0.0) -> Comparison:
    """A relative difference up to `tolerance` is taken for rounding."""
    relative: list[float] = []
    largest: Difference | None = None
    beyond: tuple[Difference, ...] = ()
    position = 0
    leaves = set()
    for one, other in zip_longest(before.updates, after.updates):
        if one is None or other is None or one.keys != other.keys:
            if not beyond:
                position = len(relative)
                beyond = (difference_in_order(before.updates, after.updates, position),)
            break
        leaves |= {(one.process, leaf.key) for leaf in one.leaves}
        same_numbers_so_far = largest is None
        found = differences_of(one, other, same_numbers_so_far=same_numbers_so_far)
        largest = _largest([largest, *found])
        if not beyond:
            beyond, position = _beyond(found, tolerance), len(relative)
        relative.append(max((each.relative for each in found), default=0.0))
    if not beyond:
        units = UNITS_AT_FIRST if largest is None else UNITS_LATER
        found = differences_of_state(THE_END, before.values, after.values, units)
        largest = _largest([largest, *found])
        beyond, position = _beyond(found, tolerance), len(relative)
    return Comparison(len(leaves), tuple(relative), largest, beyond, position)


def _beyond(found: list[Difference], tolerance: float) -> tuple[Difference, ...]:
    judged = (replace(each, allowed=max(each.allowed, tolerance)) for each in found)
    return tuple(each for each in judged if each.beyond_rounding)


def _largest(found: list[Difference | None]) -> Difference | None:
    known = (each for each in found if each is not None)
    return max(known, key=lambda each: each.relative, default=None)
