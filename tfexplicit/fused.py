"""Fused ops of TensorFlow that make the whole step of a rule in one pass, as rules declare them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from tfexplicit.composite import inside, joined, outside, part_of
from tfexplicit.rule import LeafStep, Rule, Slots

# By the name of the op's argument.
Scalars = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Kernel:
    """An op that steps a variable and its slots in place, as the rule's formula does.

    `run(leaf, grad, slots, scalars)` calls it on resource handles and a dense gradient.
    `scalars(hyper, step, dtype)` makes its numbers from float64 hyperparameters and an int64 count,
    all of them vectors with an entry per leaf. `at_rest` are the numbers with which a gradient of
    zeros changes nothing; None if there are no such numbers.
    """

    run: Callable[[Any, Any, Slots, Scalars], Any]
    scalars: Callable[[dict[str, Any], Any, Any], Scalars]
    at_rest: Mapping[str, float] | None = None


@dataclass(frozen=True, eq=False)
class Fused:
    """How a rule steps a leaf by a kernel; what stands around the kernel is done beside it.

    Without a kernel, leaves that share variables go by the formula together, and others one by one.
    """

    # Its `apply` goes element by element, also with numbers that are arrays, as the kernel does.
    rule: Rule
    # The slots that it gives anew, by its own names.
    own_slots: tuple[str, ...] = ()
    kernel: Kernel | None = None
    # The part of the rule that the kernel belongs to: `adam`, or "" for the rule itself.
    part: str = ""
    # What the rules before it make of the step, and their slots.
    before: Callable[[LeafStep], tuple[LeafStep, Slots]] | None = None
    # The factor of itself that the leaf loses before it moves, from its hyperparameters.
    decay: Callable[[dict[str, Any]], Any] | None = None

    @property
    def can_rest(self) -> bool:
        return self.kernel is not None and self.kernel.at_rest is not None

    def full(self, name: str) -> str:
        """A slot or hyperparameter of the kernel, as the rule names it."""
        return f"{self.part}/{name}" if self.part else name

    def own(self, hyper: Mapping[str, Any]) -> dict[str, Any]:
        """Hyperparameters of the rule, those of the kernel by its names."""
        return part_of(hyper, self.part) if self.part else dict(hyper)

    @property
    def slots(self) -> set[str]:
        return {self.full(name) for name in self.own_slots}


def within(name: str, fused: Fused) -> Fused:
    """The same as the rule sees it of which `name` is a part."""
    before, decay = fused.before, fused.decay

    def part_before(at: LeafStep) -> tuple[LeafStep, Slots]:
        assert before is not None
        after, slots = before(inside(name, at))
        return outside(at, after), joined({name: slots})

    def part_decay(hyper: dict[str, Any]) -> Any:
        assert decay is not None
        return decay(part_of(hyper, name))

    return replace(
        fused,
        part=f"{name}/{fused.part}" if fused.part else name,
        before=None if before is None else part_before,
        decay=None if decay is None else part_decay,
    )
