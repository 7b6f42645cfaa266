"""What a state was made from, and where its leaves live in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from tfexplicit.keras_optimizers.learning_rate import LearningRateOf
from tfexplicit.rule import Rule, Slots
from tfexplicit.set_before import SetBefore
from tfexplicit.tied import Tied
from tfexplicit.tree import Leaf


class TakenOver(Protocol):
    """An optimizer of Keras, or another object, that a state was made from."""

    optimizer: Any
    rule: Rule
    step: Any
    # True for an optimizer that is stepped by its own update, which counts too.
    counts_itself: bool

    @property
    def learning_rate(self) -> LearningRateOf | None: ...

    def slots_for(self, leaves: Sequence[Leaf]) -> list[Slots | None]: ...

    def before_step(self, grads: Sequence[Any]) -> None: ...


@dataclass(eq=False)
class Plan:
    """What a state was made from; shared by the states that follow from it."""

    model: Any
    choose: Callable[[Leaf], Rule]
    per_leaf: bool = False
    # A sparse gradient steps the rows that it has, and no others.
    lazy: bool = False
    tied: Tied = "total"
    taken_over: TakenOver | None = None
    # The leaves join as steps name them, in their order, however many the model has.
    as_stepped: bool = False
    # True where a leaf that joins late counts the updates made before it, as Keras does.
    shares_count: bool = False
    compiled: dict[Any, Any] = field(default_factory=dict)
    set_before: SetBefore = field(default_factory=SetBefore)
    # True once a function of the user's holds a trace of a step.
    traced: bool = False


@dataclass(frozen=True)
class Place:
    """Where a leaf lives in a state."""

    group: int
    row: int
