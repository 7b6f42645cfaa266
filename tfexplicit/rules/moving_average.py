"""The moving average of TensorFlow Addons."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import tensorflow as tf

from tfexplicit.hyperparameters import Fraction
from tfexplicit.moments import blended
from tfexplicit.periods import expect_count
from tfexplicit.rule import LeafStep, Rule, Slots


@dataclass(frozen=True, eq=False, repr=False)
class MovingAverage(Rule):
    """Exponential moving average with the arguments and numbers of `tfa.optimizers.MovingAverage`.

    It differs from `EMA` in how it starts: the leaf before its first step is averaged in, up to
    `start_step` the average is a copy of the leaf, and with `dynamic_decay` the decay grows as
    `(1 + k) / (10 + k)` up to `average_decay`. Last in a chain; `tx.ema_params(opt_state, model)`
    gives the averages. The slot `average` has the leaf's shape and dtype (at least float32).

    Args:
        average_decay: the share of the average so far.
        start_step: how many steps of the leaf go by before averaging starts.
        dynamic_decay: a smaller decay in the beginning.
    """

    elementwise: ClassVar[bool] = True

    average_decay: Fraction = 0.99
    start_step: int = 0
    dynamic_decay: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        expect_count("MovingAverage", "start_step", self.start_step, least=0)

    def init(self, leaf: Any) -> Slots:
        return {"average": tf.zeros_like(leaf)}

    def step(self, at: LeafStep) -> tuple[LeafStep, Slots]:
        old = tf.where(at.is_first, at.leaf, at.slots["average"])
        return at, at.kept({"average": blended(old, at.moved, self._decay(at))})

    def _decay(self, at: LeafStep) -> Any:
        decay = at.hyper["average_decay"]
        since = tf.cast(at.taken - self.start_step, tf.float64)
        if self.dynamic_decay:
            decay = tf.minimum(decay, (1 + since) / (10 + tf.maximum(since, 0)))
        return tf.where(since < 0, tf.zeros_like(decay), decay)

    @classmethod
    def variants(cls) -> list[Rule]:
        from tfexplicit.chain import Chain
        from tfexplicit.rules.sgd import SGD

        return [Chain(SGD(0.1), cls(0.9)), Chain(SGD(0.1), cls(0.9, 1, dynamic_decay=True))]
