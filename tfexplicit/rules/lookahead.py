"""Lookahead."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import tensorflow as tf

from tfexplicit.hyperparameters import Fraction
from tfexplicit.periods import expect_count, is_due
from tfexplicit.rule import LeafStep, Rule, Slots


@dataclass(frozen=True, eq=False, repr=False)
class Lookahead(Rule):
    """Goes back part of the way at every `sync_period`-th step of the leaf; last in a chain.

    Zhang et al. 2019, https://arxiv.org/abs/1907.08610, with the arguments and defaults of
    TensorFlow Addons. The slot `slow`, with the leaf's shape and dtype (at least float32), is where
    the leaf was at the last such step, and before the first one where it began.

    Args:
        sync_period: steps between, at least 1.
        slow_step_size: the part of the way from `slow` to the leaf that is kept.
    """

    elementwise: ClassVar[bool] = True

    sync_period: int = 6
    slow_step_size: Fraction = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        expect_count("Lookahead", "sync_period", self.sync_period)

    def init(self, leaf: Any) -> Slots:
        return {"slow": tf.zeros_like(leaf)}

    def step(self, at: LeafStep) -> tuple[LeafStep, Slots]:
        slow = tf.where(at.is_first, at.leaf, at.slots["slow"])
        part = tf.cast(at.hyper["slow_step_size"], at.leaf.dtype)
        due = is_due(at, self.sync_period)
        slow = tf.where(due, slow + part * (at.moved - slow), slow)
        return at.moving_to(tf.where(due, slow, at.moved)), at.kept({"slow": slow})

    @classmethod
    def variants(cls) -> list[Rule]:
        from tfexplicit.chain import Chain
        from tfexplicit.rules.sgd import SGD

        return [Chain(SGD(0.1), cls(2))]
