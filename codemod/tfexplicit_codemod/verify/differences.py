"""What differs between one update before and after, leaf by leaf.

Leaves with equal bytes are equal. Where the bytes differ, the difference of the L2 norms, sums and
first values is measured against what rounding can do, in units of the leaf's dtype (2^-23 for
float32, the distance between 1 and the next number):

- Up to the first update whose bytes differ, both programs have computed with the same numbers. So
  in that update the gradients and the leaves may differ by the rounding of one step: 16 units
  (2e-6 in float32; a formula in another order of operations gives 1 to 4). The same holds for
  what was added to each leaf: next to a whole embedding, a wrong step of a few rows is nothing,
  nor is the right step of other rows, which a sum with random signs tells.
- Later, rounding grows through the training itself: 160 units (2e-5 in float32; Keras' own
  formulas in another order stay below 1e-5 in 200 steps). A gradient near an optimum is mostly
  cancellation, so from here on only the leaves are judged.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from tfexplicit_codemod.verify.records import Gradient, Leaf, Update

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

# Of the gradients of a leaf, before and after; None where there is none.
Gradients = tuple[Gradient | None, Gradient | None]


@dataclass(frozen=True)
class Difference:
    """What differs at one place: its relative size, and how much of it rounding can explain."""

    place: str
    what: str
    before: str
    after: str
    relative: float = math.inf
    allowed: float = 0.0

    @property
    def beyond_rounding(self) -> bool:
        return self.relative > self.allowed

    def __str__(self) -> str:
        values = f"the {self.what} is {self.before} before and {self.after} after"
        if math.isinf(self.relative):
            return f"in {self.place} {values}"
        return f"in {self.place} {values}, a relative difference of {self.relative:.1e}"


def differences_of(one: Update, other: Update, *, same_numbers_so_far: bool) -> list[Difference]:
    """The differences of two updates of the same leaves: of the leaves and the state of layers, the
    largest first, then of the gradients."""
    other_rows = {leaf.key: row for row, leaf in enumerate(other.leaves)}
    rows = [(row, other_rows[leaf.key]) for row, leaf in enumerate(one.leaves)]
    leaves = [(one.leaves[mine], other.leaves[its]) for mine, its in rows]
    gradients = [(one.gradients[mine], other.gradients[its]) for mine, its in rows]
    kinds = _other_kinds(one.place, leaves, gradients)
    if kinds:
        return kinds
    units = UNITS_AT_FIRST if same_numbers_so_far else UNITS_LATER
    differences = []
    for mine, its in leaves:
        if mine.crc != its.crc:
            differences.append(leaf_difference(one.place, mine, its, units))
            if same_numbers_so_far:
                differences.append(_step_difference(one.place, mine, its))
    differences += differences_of_state(one.place, one.state, other.state, units)
    differences.sort(key=_by_size)
    if same_numbers_so_far:
        differences += _gradient_differences(one, gradients)
    return differences


def differences_of_state(
    place: str, before: Sequence[Leaf], after: Sequence[Leaf], units: int
) -> list[Difference]:
    """Of the variables that both have: one may be gone sooner, as Python collects garbage."""
    same = {leaf.key: leaf for leaf in after}
    pairs = [(mine, same[mine.key]) for mine in before if mine.key in same]
    differences = (
        leaf_difference(place, mine, its, units) for mine, its in pairs if mine.crc != its.crc
    )
    return sorted(differences, key=_by_size)


def _other_kinds(
    place: str, leaves: Sequence[tuple[Leaf, Leaf]], gradients: Sequence[Gradients]
) -> list[Difference]:
    """Leaves that have a gradient in one program only, or another number of NaN."""
    differences = []
    for (mine, its), pair in zip(leaves, gradients, strict=True):
        if (pair[0] is None) != (pair[1] is None):
            before, after = ("None" if each is None else "given" for each in pair)
            what = f"gradient of leaf {mine.title}"
            differences.append(Difference(place, what, before, after))
        if mine.not_finite != its.not_finite:
            what = f"number of NaN and infinite values of leaf {mine.title}"
            counts = str(mine.not_finite), str(its.not_finite)
            differences.append(Difference(place, what, *counts))
    return differences


def leaf_difference(place: str, one: Leaf, other: Leaf, units: int) -> Difference:
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
    name, before, after, relative = _largest(measures)
    allowed = units * _unit(one)
    return Difference(place, f"{name} of leaf {one.title}", before, after, relative, allowed)


def _step_difference(place: str, one: Leaf, other: Leaf) -> Difference:
    """As in `leaf_difference`, but what was added is also as uncertain as what it was added to.

    With random signs, errors mostly cancel: that sum is as uncertain as the norm. It tells steps
    apart that are of one size, but in other places.
    """
    step, moved = max(one.step, other.step), max(one.moved, other.moved)
    root_of_size = math.sqrt(max(1, one.changed, other.changed))
    measures = {
        "norm": (one.step, other.step, step),
        "sum": (one.step_total, other.step_total, step * root_of_size),
        "signed sum": (one.step_signed, other.step_signed, step),
    }
    name, before, after, relative = _largest(measures)
    what = f"{name} of what was added to leaf {one.title}"
    allowed = UNITS_AT_FIRST * _unit(one) * (1 + moved / step if step else 1)
    return Difference(place, what, before, after, relative, allowed)


def _largest(measures: dict[str, tuple[float, float, float]]) -> tuple[str, str, str, float]:
    relative = {name: _relative(*values) for name, values in measures.items()}
    name = max(relative, key=lambda name: relative[name])
    mine, its, _ = measures[name]
    return name, f"{mine:.9g}", f"{its:.9g}", relative[name]


def _gradient_differences(one: Update, gradients: Sequence[Gradients]) -> list[Difference]:
    """Measured against the norm of all gradients: a small one may be what is left of large ones."""
    whole = one.gradient_norm
    differences = []
    for leaf, (mine, its) in zip(one.leaves, gradients, strict=True):
        if mine is None or its is None:
            continue
        scale = whole * math.sqrt(max(1, math.prod(leaf.shape)))
        name, before, after, relative = _largest(
            {"norm": (mine.norm, its.norm, whole), "sum": (mine.total, its.total, scale)}
        )
        if relative:
            what, allowed = f"{name} of the gradient of leaf", UNITS_AT_FIRST * _unit(leaf)
            differences.append(
                Difference(one.place, f"{what} {leaf.title}", before, after, relative, allowed)
            )
    return sorted(differences, key=_by_size)


def _by_size(difference: Difference) -> float:
    return -difference.relative


def _unit(leaf: Leaf) -> float:
    """0 for whole numbers, which know no rounding."""
    return UNIT.get(leaf.dtype, 0.0)


def _relative(one: float, other: float, scale: float) -> float:
    if _same(one, other):
        return 0.0
    relative = abs(one - other) / scale if scale else math.inf
    return math.inf if math.isnan(relative) else relative


def _same(one: float, other: float) -> bool:
    return one == other or (math.isnan(one) and math.isnan(other))
