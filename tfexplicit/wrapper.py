"""A rule around one other, which it has step on another leaf or gradient."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from tfexplicit.composite import Composite, expect_rule, inside, joined, names_of, part_of
from tfexplicit.rule import LeafStep, Rule, Slots

AnyWrapper = TypeVar("AnyWrapper", bound="Wrapper")


class Wrapper(Composite):
    """Base class: `name` and `rule` are the one part, `within` the step as that part sees it."""

    def __init__(self, rule: Rule) -> None:
        expect_rule(type(self).__name__, "its first argument", rule)
        super().__init__(dict(zip(names_of([rule]), [rule], strict=True)))

    @property
    def name(self) -> str:
        return next(iter(self.parts))

    @property
    def rule(self) -> Rule:
        return self.parts[self.name]

    def within(self, at: LeafStep) -> LeafStep:
        return inside(self.name, at)

    def seeing(
        self: AnyWrapper, leaves: Sequence[LeafStep], shared: Slots
    ) -> tuple[AnyWrapper, Slots]:
        within = [self.within(leaf) for leaf in leaves]
        seen, new = self.rule.seeing(within, part_of(shared, self.name))
        return self.carrying(parts={self.name: seen}), joined({self.name: new})

    def arguments(self) -> dict[str, Any]:
        return {"rule": self.rule}
