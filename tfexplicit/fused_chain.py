"""The fused op of a chain: that of one part, with the other parts around it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tfexplicit.composite import inside, one_after_the_other
from tfexplicit.fused import Fused, within
from tfexplicit.rule import LeafStep, Rule, Slots
from tfexplicit.rules.decoupled_weight_decay import DecoupledWeightDecay
from tfexplicit.selection import concerns


def in_a_chain(parts: Mapping[str, Rule], path: str, target: Any) -> Fused | None:
    """The first part that has an op steps by it. Before it may stand anything, since that changes
    the gradient only; after it nothing but one decay, which the leaf gets before it moves."""
    before: dict[str, Rule] = {}
    waiting = list(parts.items())
    while waiting:
        name, part = waiting.pop(0)
        own = part.fused(path, target)
        if own is not None:
            return _followed_by(waiting, _preceded_by(before, within(name, own)), path, target)
        before[name] = part
    return None


def _preceded_by(parts: Mapping[str, Rule], fused: Fused) -> Fused:
    if not parts:
        return fused

    def before(at: LeafStep) -> tuple[LeafStep, Slots]:
        at, slots = one_after_the_other(parts, at)
        if fused.before is None:
            return at, slots
        at, own = fused.before(at)
        return at, {**slots, **own}

    return replace(fused, before=before)


def _followed_by(
    waiting: list[tuple[str, Rule]], fused: Fused, path: str, target: Any
) -> Fused | None:
    if not waiting:
        return fused
    (name, part), *others = waiting
    if others or fused.decay is not None or not isinstance(part, DecoupledWeightDecay):
        return None

    def decay(at: LeafStep) -> Any:
        return part.factor(inside(name, at), at.hyper[fused.full("learning_rate")])

    return replace(fused, decay=decay) if concerns(part.where, path, target) else fused
