"""Updates of other leaves: which one is missing, made too often, or made in another order."""

from __future__ import annotations

from collections.abc import Sequence

from tfexplicit_codemod.verify.differences import Difference
from tfexplicit_codemod.verify.records import Update

MADE, MISSING = "made", "missing"


def difference_in_order(
    before: Sequence[Update], after: Sequence[Update], position: int
) -> Difference:
    """Where the updates at this position are not of the same leaves."""
    one, next_one = (_at(before, each) for each in (position, position + 1))
    other, next_other = (_at(after, each) for each in (position, position + 1))
    if one is None:
        assert other is not None
        return Difference(other.place, f"update of {_leaves(other)}", MISSING, MADE)
    if other is None:
        return Difference(one.place, f"update of {_leaves(one)}", MADE, MISSING)
    is_later, was_later = _same_leaves(one, next_other), _same_leaves(next_one, other)
    if is_later and was_later:
        order = f"{_leaves(one)}, then {_leaves(other)}", f"{_leaves(other)}, then {_leaves(one)}"
        return Difference(one.place, "order of the updates", *order)
    if was_later:
        return Difference(one.place, f"update of {_leaves(one)}", MADE, MISSING)
    if is_later:
        return Difference(other.place, f"update of {_leaves(other)}", MISSING, MADE)
    return _other_leaves(one, other)


def _other_leaves(one: Update, other: Update) -> Difference:
    mine, its = ({leaf.key: leaf for leaf in update.leaves} for update in (one, other))
    lost = [leaf.title for key, leaf in mine.items() if key not in its]
    new = [leaf.title for key, leaf in its.items() if key not in mine]
    if lost and new:
        kinds = (_kinds(mine.keys() - its.keys()), _kinds(its.keys() - mine.keys()))
        return Difference(one.place, "leaves that only one program updates", *kinds)
    if lost:
        return Difference(one.place, f"step of {_named(lost)}", MADE, MISSING)
    return Difference(one.place, f"step of {_named(new)}", MISSING, MADE)


def _kinds(keys: set[tuple[str, int, tuple[int, ...], str]]) -> str:
    return ", ".join(f"{name} {dtype}{list(shape)}" for name, _, shape, dtype in sorted(keys))


def _at(updates: Sequence[Update], position: int) -> Update | None:
    return updates[position] if position < len(updates) else None


def _same_leaves(one: Update | None, other: Update | None) -> bool:
    return one is not None and other is not None and one.keys == other.keys


def _leaves(update: Update) -> str:
    return _named([leaf.title for leaf in update.leaves])


def _named(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"
