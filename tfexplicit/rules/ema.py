"""Exponential moving average of the leaves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import tensorflow as tf

from tfexplicit.hyperparameters import Fraction
from tfexplicit.moments import blended
from tfexplicit.periods import expect_count, is_due
from tfexplicit.rule import LeafStep, Rule, Slots


@dataclass(frozen=True, eq=False, repr=False)
class EMA(Rule):
    """Averages the leaf as it is after the step; last in a chain. `use_ema=True` in Keras.

    Polyak and Juditsky 1992. `tx.ema_params(opt_state, model)` gives the averages. The first step
    copies the leaf. The slot `average` has the leaf's shape and dtype (at least float32).

    Args:
        momentum: the share of the average so far, as Keras' `ema_momentum`.
        overwrite_frequency: the leaf becomes its average after every so many of its steps; never by
            default.
    """

    elementwise: ClassVar[bool] = True

    momentum: Fraction = 0.99
    overwrite_frequency: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.overwrite_frequency is not None:
            expect_count("EMA", "overwrite_frequency", self.overwrite_frequency)

    def init(self, leaf: Any) -> Slots:
        return {"average": tf.zeros_like(leaf)}

    def step(self, at: LeafStep) -> tuple[LeafStep, Slots]:
        value = at.moved
        average = blended(at.slots["average"], value, at.hyper["momentum"])
        average = tf.where(at.is_first, value, average)
        slots = at.kept({"average": average})
        if self.overwrite_frequency is None:
            return at, slots
        due = is_due(at, self.overwrite_frequency)
        return at.moving_to(tf.where(due, average, value)), slots

    @classmethod
    def variants(cls) -> list[Rule]:
        from tfexplicit.chain import Chain
        from tfexplicit.rules.sgd import SGD

        return [Chain(SGD(0.1), cls(0.9)), Chain(SGD(0.1), cls(0.9, overwrite_frequency=2))]
