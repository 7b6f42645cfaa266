"""Stochastic weight averaging."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import tensorflow as tf

from tfexplicit.periods import expect_count
from tfexplicit.rule import LeafStep, Rule, Slots


@dataclass(frozen=True, eq=False, repr=False)
class SWA(Rule):
    """The plain mean of snapshots of the leaf, one every `average_period` of its steps.

    Izmailov et al. 2018, https://arxiv.org/abs/1803.05407, with the arguments, defaults and count
    of TensorFlow Addons: the first snapshot is taken after step `start_averaging + 1`. Last in a
    chain; `tx.ema_params(opt_state, model)` gives the means, which are the leaves themselves before
    the first snapshot. The slot `average` has the leaf's shape and dtype (at least float32).

    It is no form of `EMA`: the weight of a new snapshot falls with their number.
    """

    elementwise: ClassVar[bool] = True

    start_averaging: int = 0
    average_period: int = 10

    def __post_init__(self) -> None:
        super().__post_init__()
        expect_count("SWA", "start_averaging", self.start_averaging, least=0)
        expect_count("SWA", "average_period", self.average_period)

    def init(self, leaf: Any) -> Slots:
        return {"average": tf.zeros_like(leaf)}

    def step(self, at: LeafStep) -> tuple[LeafStep, Slots]:
        since = at.taken - self.start_averaging
        due = (since >= 0) & tf.equal(since % self.average_period, 0)
        earlier = tf.cast(tf.maximum(since // self.average_period, 0), at.leaf.dtype)
        old = at.slots["average"]
        mean = (old * earlier + at.moved) / (earlier + 1)
        return at, at.kept({"average": tf.where(due, mean, old)})

    @classmethod
    def variants(cls) -> list[Rule]:
        from tfexplicit.chain import Chain
        from tfexplicit.rules.sgd import SGD

        return [Chain(SGD(0.1), cls(1, 2))]
