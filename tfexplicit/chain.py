"""Several rules, one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tfexplicit.composite import (
    Composite,
    expect_rule,
    inside,
    joined,
    names_of,
    one_after_the_other,
    outside,
    part_of,
)
from tfexplicit.fused import Fused
from tfexplicit.fused_chain import in_a_chain
from tfexplicit.rule import LeafStep, Rule, Slots


class Chain(Composite):
    """Each rule gets what the one before it would subtract, as its gradient.

    `Chain(ClipByNorm(1.0), Adam(1e-3))` clips, then steps with Adam. An empty chain subtracts the
    gradient. Chains nest. Slots and hyperparameters carry the part's name: `adam/momentum`, or the
    name it was given: `Chain(clip=ClipByNorm(1.0), main=Adam(1e-3))`.

    Raises:
        TypeError: a part is not a rule, or is one that must wrap the chain, such as
            `MixedPrecision`.
    """

    elementwise = Composite.parts_are_elementwise

    def __init__(self, *rules: Rule, **named: Rule) -> None:
        for position, rule in enumerate(rules):
            expect_rule("Chain", f"argument {position + 1}", rule)
        for name, rule in named.items():
            expect_rule("Chain", f"`{name}`", rule)
        _refuse_what_wraps_a_chain([*rules, *named.values()])
        own = dict(zip(names_of(rules), rules, strict=True))
        taken = own.keys() & named.keys()
        if taken:
            raise TypeError(f"Chain: two parts are named {', '.join(sorted(taken))}.")
        super().__init__({**own, **named})

    def seeing(self, leaves: Sequence[LeafStep], shared: Slots) -> tuple[Chain, Slots]:
        """Let each part see the gradients that the parts before it produce.

        Those are computed here only if a later part has to see them, and again in `step`: a
        second computation costs less memory than to keep them all.
        """
        seen = dict(self.parts)
        new_shared: dict[str, Slots] = {}
        last = [name for name, part in self.parts.items() if part.sees][-1]
        for name, part in self.parts.items():
            within = [inside(name, leaf) for leaf in leaves]
            if part.sees:
                seen[name], new_shared[name] = part.seeing(within, part_of(shared, name))
            if name == last:
                break
            leaves = [
                outside(leaf, seen[name].step(own)[0])
                for leaf, own in zip(leaves, within, strict=True)
            ]
        return self.carrying(parts=seen), {**shared, **joined(new_shared)}

    def step(self, at: LeafStep) -> tuple[LeafStep, Slots]:
        return one_after_the_other(self.parts, at)

    @property
    def keeps_slots_with(self) -> Mapping[str, float] | None:  # type: ignore[override]
        resting = {name: part.keeps_slots_with for name, part in self.parts.items()}
        known = {name: numbers for name, numbers in resting.items() if numbers is not None}
        return joined(known) if known.keys() == resting.keys() else None

    def fused(self, path: str, target: Any) -> Fused | None:
        return in_a_chain(self.parts, path, target)

    def __repr__(self) -> str:
        given = names_of(self.parts.values())
        return "Chain({})".format(
            ", ".join(
                repr(part) if name == default else f"{name}={part!r}"
                for (name, part), default in zip(self.parts.items(), given, strict=True)
            )
        )


def _refuse_what_wraps_a_chain(rules: Iterable[Rule]) -> None:
    for rule in rules:
        if rule.wraps_whole_rule:
            name = type(rule).__name__
            raise TypeError(
                f"Chain: {name} must wrap the whole chain, not be part of it, so that all "
                f"rules work on its copy of the leaf. Write tx.{name}(tx.Chain(...))."
            )
        if isinstance(rule, Composite):
            _refuse_what_wraps_a_chain(rule.parts.values())
