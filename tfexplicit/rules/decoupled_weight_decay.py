"""Weight decay beside the gradient."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import tensorflow as tf

from tfexplicit.hyperparameters import NonNegative
from tfexplicit.rule import LeafStep, Rule, Slots
from tfexplicit.selection import Where, concerns, expect_where


@dataclass(frozen=True, eq=False, repr=False)
class DecoupledWeightDecay(Rule):
    """Subtracts `weight_decay * learning_rate * leaf`: `Chain(Adam(), DecoupledWeightDecay())`.

    Loshchilov and Hutter 2019, https://arxiv.org/abs/1711.05101, in the order and with the rounding
    of Keras: the leaf decays first, then it moves. So the chain above trains as `AdamW`, and any
    rule that stands before it as the Keras class with `weight_decay=`. The learning rate is that of
    the last rule before it which has one, so `adjust(opt_state, learning_rate=...)` and a schedule
    reach the decay too. No slots.

    Args:
        weight_decay: the factor.
        times_learning_rate: False subtracts `weight_decay * leaf`, as the paper and as TensorFlow
            Addons' `SGDW` and `AdamW` do; a schedule for it is then a function of the step.
        where: the leaves that decay: a path glob such as `"**/kernel"`, or a function
            `(path, leaf) -> bool`; all by default.
    """

    elementwise: ClassVar[bool] = True

    weight_decay: NonNegative = 0.004
    times_learning_rate: bool = True
    where: Where = None

    def __post_init__(self) -> None:
        super().__post_init__()
        expect_where("DecoupledWeightDecay", self.where)

    def governing(self, path: str, target: Any) -> set[str]:
        return {"weight_decay"} if concerns(self.where, path, target) else set()

    def step(self, at: LeafStep) -> tuple[LeafStep, Slots]:
        if not concerns(self.where, at.path, at.target):
            return at, {}
        decay = at.leaf * tf.cast(at.hyper["weight_decay"], at.leaf.dtype)
        if self.times_learning_rate:
            decay = decay * tf.cast(_learning_rate(at), at.leaf.dtype)
        if at.becomes is not None:
            return at.moving_to(at.becomes - decay), {}
        return at.moving_to((at.leaf - decay) - at.grad), {}

    def factor(self, hyper: dict[str, Any], learning_rate: Any) -> Any:
        """What the leaf is multiplied with to give the decay, a float64 scalar."""
        own = hyper["weight_decay"]
        return own * learning_rate if self.times_learning_rate else own

    @classmethod
    def variants(cls) -> list[Rule]:
        from tfexplicit.chain import Chain
        from tfexplicit.rules.sgd import SGD

        return [
            Chain(SGD(0.1), cls(0.1)),
            Chain(SGD(0.1), cls(0.1, where=lambda path, leaf: leaf.shape.rank == 2)),
            Chain(SGD(0.1), cls(0.1, times_learning_rate=False)),
        ]


def _learning_rate(at: LeafStep) -> Any:
    if at.learning_rate is None:
        raise ValueError(
            f"DecoupledWeightDecay at {at.path!r}: no rule before it in the chain has a learning "
            "rate to multiply with. Write tx.Chain(tx.Adam(1e-3), tx.DecoupledWeightDecay(0.004)), "
            "or give times_learning_rate=False."
        )
    return at.learning_rate
