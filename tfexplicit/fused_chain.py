"""The fused op of a chain: that of one part, with the other parts around it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tfexplicit.composite import one_after_the_other, part_of
from tfexplicit.fused import Fused, within
from tfexplicit.rule import LeafStep, Rule, Slots
from tfexplicit.rules.decoupled_weight_decay import DecoupledWeightDecay
from tfexplicit.selection import concerns


def in_a_chain(parts: Mapping[str, Rule], path: str, target: Any) -> Fused | None:
    """The first part that has an op steps by it. Before it may stand anything, since that changes
    the gradient only; after it nothing but one decay, which the leaf gets before it moves."""
    named = list(parts.items())
    for position, (name, part) in enumerate(named):
        own = part.fused(path, target)
        if own is not None:
            fused = _preceded_by(dict(named[:position]), within(name, own))
            return _followed_by(named[position + 1 :], fused, path, target)
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
    parts: list[tuple[str, Rule]], fused: Fused, path: str, target: Any
) -> Fused | None:
    if not parts:
        return fused
    (name, part), *others = parts
    # A subclass may have a formula of its own.
    if others or fused.decay is not None or type(part) is not DecoupledWeightDecay:
        return None

    def decay(hyper: dict[str, Any]) -> Any:
        return part.factor(part_of(hyper, name), hyper[fused.full("learning_rate")])

    return replace(fused, decay=decay) if concerns(part.where, path, target) else fused
