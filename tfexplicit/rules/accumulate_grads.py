"""One step for several gradients."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import tensorflow as tf

from tfexplicit.periods import expect_count, is_due
from tfexplicit.rule import LeafStep, Rule, Slots


@dataclass(frozen=True, eq=False, repr=False)
class AccumulateGrads(Rule):
    """Gives the rules after it the mean of `n` gradients, at every `n`-th; meanwhile they rest.

    So clipping, decay, moments and averages after it are those of one step with the whole batch,
    and bias correction counts such steps. Rules before it run at every gradient. The leaf itself
    counts: a leaf that has no gradient at some step, or is frozen, steps later than the others.
    Schedules and functions of the step follow `opt_state.step`, which counts every `update`.

    The slot `gradient`, with the leaf's shape and dtype (at least float32), holds the sum so far.

    Args:
        n: how many gradients make a step, at least 1.
    """

    elementwise: ClassVar[bool] = True
    moves: ClassVar[bool] = False
    n: int

    def __post_init__(self) -> None:
        super().__post_init__()
        expect_count("AccumulateGrads", "n", self.n)

    def init(self, leaf: Any) -> Slots:
        return {"gradient": tf.zeros_like(leaf)}

    def step(self, at: LeafStep) -> tuple[LeafStep, Slots]:
        total = at.slots["gradient"] + at.grad
        zeros = tf.zeros_like(total)
        due = is_due(at, self.n)
        slots = at.kept({"gradient": tf.where(due, zeros, total)})
        # Zeros while it is not due, so that a global norm after this is that of the leaves that
        # step. The count is rounded up: rules compute while they rest, and step 0 gives NaN.
        mean = tf.where(due, total / tf.cast(self.n, total.dtype), zeros)
        later = replace(
            at.with_grad(mean),
            step=(at.step + self.n - 1) // self.n,
            taken=at.taken // self.n,
        )
        return later.resting_unless(due), slots

    @classmethod
    def variants(cls) -> list[Rule]:
        from tfexplicit.chain import Chain
        from tfexplicit.rules.adam import Adam
        from tfexplicit.rules.clip_by_global_norm import ClipByGlobalNorm

        return [cls(2), Chain(cls(2), ClipByGlobalNorm(0.3), Adam(0.1))]
