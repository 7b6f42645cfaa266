"""A rule for each part of the model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tfexplicit import paths
from tfexplicit.composite import Composite, expect_rule, inside, joined, names_of, outside, part_of
from tfexplicit.fused import Fused, within
from tfexplicit.rule import LeafStep, Rule, Slots


class Partition(Composite):
    """Each leaf is stepped by one of several rules, chosen by its path.

    `Partition({"encoder/**": SGD(0.1), "**": Adam()})` takes the first glob that matches;
    `Partition({"slow": SGD(0.1), "fast": Adam()}, by=function)` the name that
    `function(path, leaf)` returns. Unlike a mapping given to `setup` it can be part of a chain:
    `Chain(ClipByGlobalNorm(1.0), Partition({...}))` clips over all leaves. Slots and
    hyperparameters carry the part's name: `adam/momentum`, or the one that `by` chooses by.

    Raises:
        TypeError: not a mapping, or something in it is no rule.
        ValueError: empty; and from `setup` and `update`, a leaf that no glob matches or for which
            `by` returns another name.
    """

    elementwise = Composite.parts_are_elementwise

    given: dict[str, Rule]
    by: Callable[[str, Any], str] | None
    pick: Callable[[str, Any], str]

    def __init__(
        self, rules: Mapping[str, Rule], by: Callable[[str, Any], str] | None = None
    ) -> None:
        if not isinstance(rules, Mapping):
            raise TypeError(
                f"Partition: expected a mapping such as {{'**/bias': tx.SGD(), '**': tx.Adam()}}, "
                f"got {type(rules).__name__}."
            )
        if not rules:
            raise ValueError("Partition: there is no rule in the mapping.")
        for key, rule in rules.items():
            expect_rule("Partition", f"the value of {key!r}", rule)
        names = names_of(rules.values()) if by is None else list(rules)
        super().__init__(dict(zip(names, rules.values(), strict=True)))
        by_glob = dict(zip(rules, names, strict=True))
        pick = _checked(by, names) if by is not None else _first_match(by_glob)
        object.__setattr__(self, "pick", pick)
        object.__setattr__(self, "given", dict(rules))
        object.__setattr__(self, "by", by)

    def arguments(self) -> dict[str, Any]:
        return {"rules": self.given, "by": self.by}

    @property
    def structure(self) -> Any:
        return list(self.given), self.by

    def begin(self, path: str, leaf: Any, target: Any) -> Slots:
        name = self.pick(path, target)
        return joined({name: self.parts[name].begin(path, leaf, target)})

    def governing(self, path: str, target: Any) -> set[str]:
        name = self.pick(path, target)
        return {f"{name}/{hyper}" for hyper in self.parts[name].governing(path, target)}

    def seeing(self, leaves: Sequence[LeafStep], shared: Slots) -> tuple[Partition, Slots]:
        """Each part sees its own leaves; one that has none in this step does not look."""
        seen = dict(self.parts)
        new = dict(shared)
        for name, part in self.parts.items():
            own = [
                inside(name, leaf) for leaf in leaves if self.pick(leaf.path, leaf.target) == name
            ]
            if own and part.sees:
                seen[name], scalars = part.seeing(own, part_of(shared, name))
                new.update(joined({name: scalars}))
        return self.carrying(parts=seen), new

    def step(self, at: LeafStep) -> tuple[LeafStep, Slots]:
        name = self.pick(at.path, at.target)
        after, slots = self.parts[name].step(inside(name, at))
        return outside(at, after), joined({name: slots})

    def fused(self, path: str, target: Any) -> Fused | None:
        name = self.pick(path, target)
        own = self.parts[name].fused(path, target)
        return None if own is None else within(name, own)

    def __repr__(self) -> str:
        by = "" if self.by is None else f", by=<{getattr(self.by, '__name__', 'function')}>"
        return f"Partition({self.given!r}{by})"

    @classmethod
    def variants(cls) -> list[Rule]:
        from tfexplicit.chain import Chain
        from tfexplicit.rules.adam import Adam
        from tfexplicit.rules.clip_by_global_norm import ClipByGlobalNorm
        from tfexplicit.rules.sgd import SGD

        def by_rank(path: str, leaf: Any) -> str:
            return "matrices" if len(leaf.shape) == 2 else "others"

        rules = {"matrices": Adam(0.1), "others": SGD(0.1, momentum=0.9)}
        return [
            cls({"**/kernel": Adam(0.1), "**": Chain(ClipByGlobalNorm(0.3), SGD(0.1))}),
            Chain(ClipByGlobalNorm(0.3), cls(rules, by=by_rank)),
        ]


def _first_match(name_of: Mapping[str, str]) -> Callable[[str, Any], str]:
    return lambda path, leaf: paths.first_match("Partition", path, name_of)


def _checked(by: Callable[[str, Any], str], names: Sequence[str]) -> Callable[[str, Any], str]:
    if not callable(by):
        raise TypeError(f"Partition: `by` must be a function (path, leaf) -> name, got {by!r}.")

    def pick(path: str, leaf: Any) -> str:
        name = by(path, leaf)
        if name not in names:
            raise ValueError(
                f"Partition: `by` returned {name!r} for {path!r}; the rules are "
                f"{', '.join(map(repr, names))}."
            )
        return name

    return pick
