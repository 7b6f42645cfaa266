"""What a difference looks like: where to look for the mistake."""

from __future__ import annotations

import math
from collections.abc import Iterator

from tfexplicit_codemod.verify.compare import Comparison
from tfexplicit_codemod.verify.records import Trajectory, Update

# Relative: these are hints, the verdict has its own measure.
EQUAL = 1e-5
SAME_FACTOR = 1e-3


def hints_for(before: Trajectory, after: Trajectory, comparison: Comparison) -> list[str]:
    if comparison.equal:
        return []
    counts = len(before.updates), len(after.updates)
    hints = []
    if counts[0] != counts[1]:
        hints.append(f"The program before made {counts[0]} updates, the one after {counts[1]}.")
    position = comparison.position
    if position < min(*counts):
        hints += _of_update(before.updates, after.updates, position)
    return hints


def _of_update(before: list[Update], after: list[Update], position: int) -> Iterator[str]:
    one, other = before[position], after[position]
    if one.loss is not None and other.loss is not None and not _close(one.loss, other.loss):
        yield f"The loss of this update is {one.loss:.9g} before and {other.loss:.9g} after."
    if one.keys != other.keys:
        return
    if position and _repeats(after, position) and not _repeats(before, position):
        yield "Its gradients after are those of the update before it: is one update made twice?"
    if _is_of_new_owner(after, position) and not _is_of_new_owner(before, position):
        yield (
            "After, it is the first update of a new state of leaves that were updated before: is "
            "tx.setup called more than once?"
        )
    if not _close(one.gradient_norm, other.gradient_norm):
        ratio = _ratio(one.gradient_norm, other.gradient_norm)
        yield (
            "The gradients differ already: look at the loss, and at what is done to the gradients. "
            f"Their norm after is {ratio} times that before."
        )
        return
    yield from _of_gradients(one, other)
    yield from _of_steps(one, other)


def _of_gradients(one: Update, other: Update) -> Iterator[str]:
    """Of gradients that are as large together."""
    norms = [sorted(each.norm for each in update.gradients if each) for update in (one, other)]
    if all(_close(*pair) for pair in zip(*norms, strict=False)):
        yield (
            "The norm of the gradients is equal, so what differs is the rule, its hyperparameters "
            "or its state, or which gradient goes to which leaf."
        )
    else:
        yield "The norm of the gradients is equal, but those of single leaves differ already."


def _of_steps(one: Update, other: Update) -> Iterator[str]:
    """Where each leaf is moved by the same factor too far."""
    pairs = zip(one.leaves, other.leaves, strict=True)
    factors = [its.step / mine.step for mine, its in pairs if mine.step]
    first = factors[0] if factors else 1.0
    same_for_all = all(_close(factor, first, SAME_FACTOR) for factor in factors)
    if same_for_all and not _close(first, 1.0, SAME_FACTOR):
        yield (
            f"Each leaf is moved {first:.4g} times as far: compare the learning rates, and the "
            "order of what scales the gradients."
        )


def _repeats(updates: list[Update], position: int) -> bool:
    this, previous = updates[position], updates[position - 1]
    same = this.gradient_norm == previous.gradient_norm and this.keys == previous.keys
    return same and this.gradient_norm > 0


def _is_of_new_owner(updates: list[Update], position: int) -> bool:
    this = updates[position]
    earlier = [each for each in updates[:position] if each.keys == this.keys]
    return bool(earlier) and all(each.owner != this.owner for each in earlier)


def _ratio(one: float, other: float) -> str:
    return f"{other / one:.4g}" if one else "infinitely many"


def _close(one: float, other: float, relative: float = EQUAL) -> bool:
    return math.isclose(one, other, rel_tol=relative) or (math.isnan(one) and math.isnan(other))
