"""Compares two trajectories, update by update and leaf by leaf.

Leaves with equal bytes are equal. Where the bytes differ, the difference of the L2 norms, sums and
first values is measured against what rounding can do, in units of the leaf's dtype (2^-23 for
float32, the distance between 1 and the next number):

- Up to the first update whose bytes differ, both programs have computed with the same numbers. So
  in that update the gradients and the leaves may differ by the rounding of one step: 16 units
  (2e-6 in float32; a formula in another order of operations gives 1 to 4). The same holds for
  what was added to each leaf: next to a whole embedding, a wrong step of a few rows is nothing.
- Later, rounding grows through the training itself: 160 units (2e-5 in float32; Keras' own
  formulas in another order stay below 1e-5 in 200 steps). A gradient near an optimum is mostly
  cancellation, so from here on only the leaves are judged.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from tfexplicit_codemod.verify.records import Leaf, Trajectory, Update

UNITS_AT_FIRST = 16
UNITS_LATER = 160

UNIT = {
    "float64": 2.0**-52,
    "complex128": 2.0**-52,
    "float32": 2.0**-23,
    "complex64": 2.0**-23,
    "float16": 2.0**-10,
    "bfloat16": 2.0**-7,
}


@dataclass(frozen=True)
class Difference:
    """What differs in one update: its relative size, and how much of it rounding can explain."""

    index: int
    what: str
    before: str
    after: str
    relative: float
    allowed: float

    @property
    def beyond_rounding(self) -> bool:
        return self.relative > self.allowed


@dataclass(frozen=True)
class Comparison:
    """`first` is the first difference beyond rounding; `largest` is the largest of any size."""

    updates: int
    leaves: int
    first: Difference | None
    largest: Difference | None

    @property
    def equal(self) -> bool:
        return self.first is None

    @property
    def bit_for_bit(self) -> bool:
        return self.largest is None


def compare(before: Trajectory, after: Trajectory) -> Comparison:
    """Compares as many updates as both have."""
    first: Difference | None = None
    largest: Difference | None = None
    bytes_differed = False
    pairs = list(zip(before.updates, after.updates, strict=False))
    for one, other in pairs:
        differences = differences_of(one, other, same_numbers_so_far=not bytes_differed)
        for difference in differences:
            if largest is None or difference.relative > largest.relative:
                largest = difference
            if first is None and difference.beyond_rounding:
                first = difference
        bytes_differed = bytes_differed or bool(differences)
    # By place, since plain variables all go by the name `Variable`.
    leaves = {update.group: len(update.leaves) for update, _ in pairs}
    return Comparison(len(pairs), sum(leaves.values()), first, largest)


def differences_of(one: Update, other: Update, *, same_numbers_so_far: bool) -> list[Difference]:
    """The differences of one update: of its leaves, the largest first, then of its gradients."""
    mismatch = _mismatch(one, other)
    if mismatch is not None:
        return [mismatch]
    units = UNITS_AT_FIRST if same_numbers_so_far else UNITS_LATER
    pairs = zip(one.leaves, other.leaves, strict=True)
    differences = [
        difference
        for mine, its in pairs
        if mine.crc != its.crc
        for difference in (
            _leaf_difference(one.index, mine, its, units),
            *([_step_difference(one.index, mine, its)] if same_numbers_so_far else []),
        )
    ]
    differences.sort(key=lambda difference: -difference.relative)
    if same_numbers_so_far and not _same(one.gradient_norm, other.gradient_norm):
        differences.append(_gradient_difference(one, other, units))
    return differences


def _mismatch(one: Update, other: Update) -> Difference | None:
    """The updates are not of the same leaves, or not as many of them have a gradient."""
    for what, mine, its in (
        ("number of leaves", len(one.leaves), len(other.leaves)),
        ("leaves without a gradient", one.without_gradient, other.without_gradient),
        *(
            (f"{what} of leaf {leaf.name}", kind(leaf), kind(another))
            for leaf, another in zip(one.leaves, other.leaves, strict=False)
            for what, kind in (
                ("shape and dtype", _kind),
                ("number of NaN and infinite values", lambda leaf: str(leaf.not_finite)),
            )
        ),
    ):
        if mine != its:
            return Difference(one.index, what, str(mine), str(its), math.inf, 0.0)
    return None


def _kind(leaf: Leaf) -> str:
    return f"{leaf.dtype}{list(leaf.shape)}"


def _leaf_difference(index: int, one: Leaf, other: Leaf, units: int) -> Difference:
    """The largest of three relative differences: of the norms, the sums and the first values.

    A sum of n values of norm N is as uncertain as N sqrt(n), and one value as N / sqrt(n).
    """
    norm = max(one.norm, other.norm)
    root_of_size = math.sqrt(max(1, math.prod(one.shape)))
    measures = {
        "norm": (one.norm, other.norm, norm),
        "sum": (one.total, other.total, norm * root_of_size),
        "first value": (one.first, other.first, max(abs(one.first), norm / root_of_size)),
    }
    relative = {name: _relative(*values) for name, values in measures.items()}
    name = max(relative, key=lambda name: relative[name])
    mine, its, _ = measures[name]
    return Difference(
        index,
        f"{name} of leaf {one.name}",
        f"{mine:.9g}",
        f"{its:.9g}",
        relative[name],
        units * UNIT[one.dtype],
    )


def _step_difference(index: int, one: Leaf, other: Leaf) -> Difference:
    """As in `_leaf_difference`, but what was added is also as uncertain as what it was added to."""
    step, moved = max(one.step, other.step), max(one.moved, other.moved)
    root_of_size = math.sqrt(max(1, one.changed, other.changed))
    measures = {
        "norm": (one.step, other.step, step),
        "sum": (one.step_total, other.step_total, step * root_of_size),
    }
    relative = {name: _relative(*values) for name, values in measures.items()}
    name = max(relative, key=lambda name: relative[name])
    mine, its, _ = measures[name]
    return Difference(
        index,
        f"{name} of what was added to leaf {one.name}",
        f"{mine:.9g}",
        f"{its:.9g}",
        relative[name],
        UNITS_AT_FIRST * UNIT[one.dtype] * (1 + moved / step if step else 1),
    )


def _gradient_difference(one: Update, other: Update, units: int) -> Difference:
    mine, its = one.gradient_norm, other.gradient_norm
    relative = _relative(mine, its, max(mine, its))
    unit = max(UNIT[leaf.dtype] for leaf in one.leaves)
    before, after = f"{mine:.9g}", f"{its:.9g}"
    return Difference(one.index, "norm of the gradients", before, after, relative, units * unit)


def _relative(one: float, other: float, scale: float) -> float:
    if _same(one, other):
        return 0.0
    relative = abs(one - other) / scale if scale else math.inf
    return math.inf if math.isnan(relative) else relative


def _same(one: float, other: float) -> bool:
    return one == other or (math.isnan(one) and math.isnan(other))
