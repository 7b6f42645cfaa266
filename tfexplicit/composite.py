"""A rule made of other rules; each keeps its slots and hyperparameters under its name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from tfexplicit.constructor_arguments import refuse_to_set
from tfexplicit.hyperparameters import Bounds
from tfexplicit.module_names import numbered_where_repeated
from tfexplicit.rule import LeafStep, Rule, Slots


class Composite(Rule):
    """What `Chain` and the rules that wrap another have in common: `adam/momentum` is the slot
    `momentum` of the part `adam`."""

    parts: dict[str, Rule]

    @property
    def structure(self) -> Any:
        """What decides what it computes beside its parts; equal for rules that differ in those."""
        return ()

    def __init__(self, parts: Mapping[str, Rule]) -> None:
        object.__setattr__(self, "parts", dict(parts))

    def __setattr__(self, name: str, value: Any) -> None:
        refuse_to_set(self, name, value)

    def arguments(self) -> dict[str, Any]:
        return dict(self.parts)

    def begin(self, path: str, leaf: Any, target: Any) -> Slots:
        return joined({name: part.begin(path, leaf, target) for name, part in self.parts.items()})

    def shared(self) -> Slots:
        return joined({name: part.shared() for name, part in self.parts.items()})

    def hyperparameters(self) -> dict[str, Any]:
        return joined({name: part.hyperparameters() for name, part in self.parts.items()})

    def bounds(self) -> dict[str, Bounds]:
        return joined({name: part.bounds() for name, part in self.parts.items()})

    def governing(self, path: str, target: Any) -> set[str]:
        return {
            f"{name}/{hyper}"
            for name, part in self.parts.items()
            for hyper in part.governing(path, target)
        }

    @property
    def rowwise(self) -> bool:  # type: ignore[override]
        return all(part.rowwise for part in self.parts.values())

    @property
    def parts_are_elementwise(self) -> bool:
        """For composites whose own `step` goes number by number: `Rule` drops what is inherited
        where a class has a `step` of its own."""
        return all(part.elementwise for part in self.parts.values())

    @property
    def sees(self) -> bool:
        return any(part.sees for part in self.parts.values())


def expect_rule(owner: str, where: str, value: object) -> None:
    if not isinstance(value, Rule):
        raise TypeError(
            f"{owner}: {where} must be a tfexplicit rule such as tx.Adam(), got {value!r}."
        )


def names_of(rules: Iterable[Rule]) -> list[str]:
    """`adam`, `clip_by_norm`: the class name in snake case, numbered where it comes again."""
    return numbered_where_repeated(_snake_case(type(rule).__name__) for rule in rules)


def _snake_case(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def joined(by_part: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    return {
        f"{part}/{name}": value for part, named in by_part.items() for name, value in named.items()
    }


def part_of(named: Mapping[str, Any], part: str) -> dict[str, Any]:
    start = f"{part}/"
    return {name[len(start) :]: value for name, value in named.items() if name.startswith(start)}


def inside(part: str, at: LeafStep) -> LeafStep:
    """The step as a part sees it: with its own hyperparameters and slots."""
    return replace(at, hyper=part_of(at.hyper, part), slots=part_of(at.slots, part))


def outside(at: LeafStep, result: LeafStep) -> LeafStep:
    """What a part made of the step, as the whole sees it; and its learning rate, if it has one."""
    learning_rate = result.hyper.get("learning_rate", result.learning_rate)
    return replace(result, hyper=at.hyper, slots=at.slots, learning_rate=learning_rate)


def one_after_the_other(parts: Mapping[str, Rule], at: LeafStep) -> tuple[LeafStep, Slots]:
    """Each part gets what the one before it would subtract, as its gradient."""
    slots: dict[str, Slots] = {}
    for name, part in parts.items():
        after, slots[name] = part.step(inside(name, at))
        at = outside(at, after)
    return at, joined(slots)


def means(full: str, name: str) -> bool:
    """True if `name` is the whole name or its end, as `learning_rate` of `adam/learning_rate`."""
    return full == name or full.endswith(f"/{name}")
