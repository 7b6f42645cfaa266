"""Several rules, one after the other."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tfexplicit.hyperparameters import Bounds
from tfexplicit.module_names import numbered_where_repeated
from tfexplicit.rule import LeafStep, Rule, Slots


class Chain(Rule):
    """Each rule gets what the one before it would subtract, as its gradient.

    `Chain(ClipByNorm(1.0), Adam(1e-3))` clips, then steps with Adam. An empty chain subtracts the
    gradient. Chains nest. Slots and hyperparameters carry the part's name: `adam/momentum`.

    Raises:
        TypeError: a part is not a rule.
    """

    parts: dict[str, Rule]

    def __init__(self, *rules: Rule) -> None:
        for position, rule in enumerate(rules):
            if not isinstance(rule, Rule):
                raise TypeError(
                    f"Chain: argument {position + 1} must be a tfexplicit rule such as tx.Adam(), "
                    f"got {rule!r}."
                )
        names = numbered_where_repeated(_snake_case(type(rule).__name__) for rule in rules)
        object.__setattr__(self, "parts", dict(zip(names, rules, strict=True)))

    def init(self, leaf: Any) -> Slots:
        return _joined({name: part.init(leaf) for name, part in self.parts.items()})

    def hyperparameters(self) -> dict[str, Any]:
        return _joined({name: part.hyperparameters() for name, part in self.parts.items()})

    def bounds(self) -> dict[str, Bounds]:
        return _joined({name: part.bounds() for name, part in self.parts.items()})

    @property
    def sees(self) -> bool:
        return any(part.sees for part in self.parts.values())

    def seeing(self, leaves: Sequence[LeafStep]) -> Chain:
        """Let each part see the gradients that the parts before it produce.

        Those are computed here only if a later part has to see them, and again in `step`: a
        second computation costs less memory than to keep them all.
        """
        seen: dict[str, Rule] = {}
        for name, part in self.parts.items():
            if not any(later.sees for later in list(self.parts.values())[len(seen) :]):
                seen[name] = part
                continue
            inner = [_inside(name, leaf) for leaf in leaves]
            seen[name] = part.seeing(inner)
            leaves = [
                replace(leaf, grad=seen[name].step(within)[0])
                for leaf, within in zip(leaves, inner, strict=True)
            ]
        return Chain().carrying(parts=seen)

    def step(self, at: LeafStep) -> tuple[Any, Slots]:
        slots: dict[str, Slots] = {}
        for name, part in self.parts.items():
            grad, slots[name] = part.step(_inside(name, at))
            at = replace(at, grad=grad)
        return at.grad, _joined(slots)

    def __repr__(self) -> str:
        return f"Chain({', '.join(map(repr, self.parts.values()))})"


def _snake_case(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def _joined(by_part: dict[str, dict[str, Any]]) -> dict[str, Any]:
    return {
        f"{part}/{name}": value for part, named in by_part.items() for name, value in named.items()
    }


def _part_of(named: dict[str, Any], part: str) -> dict[str, Any]:
    start = f"{part}/"
    return {name[len(start) :]: value for name, value in named.items() if name.startswith(start)}


def _inside(part: str, at: LeafStep) -> LeafStep:
    return replace(at, hyper=_part_of(at.hyper, part), slots=_part_of(at.slots, part))
