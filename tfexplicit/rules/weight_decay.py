"""Weight decay through the gradient: an L2 penalty."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import tensorflow as tf

from tfexplicit.hyperparameters import NonNegative
from tfexplicit.rule import LeafStep, Rule, Slots
from tfexplicit.selection import Where, concerns, expect_where


@dataclass(frozen=True, eq=False, repr=False)
class WeightDecay(Rule):
    """Adds `weight_decay * leaf` to the gradient; a loss term `weight_decay / 2 * |leaf|^2`.

    First in a chain it is L2 regularisation (Krogh and Hertz 1991): the rules after it see it. For
    decay that they do not see, `DecoupledWeightDecay`. No slots.

    Args:
        weight_decay: the factor.
        where: the leaves that decay: a path glob such as `"**/kernel"`, or a function
            `(path, leaf) -> bool`; all by default.
    """

    elementwise: ClassVar[bool] = True
    moves: ClassVar[bool] = False
    keeps_slots_with: ClassVar[Mapping[str, float]] = {"weight_decay": 0.0}
    weight_decay: NonNegative = 5e-4
    where: Where = None

    def __post_init__(self) -> None:
        super().__post_init__()
        expect_where("WeightDecay", self.where)

    def governing(self, path: str, target: Any) -> set[str]:
        return {"weight_decay"} if concerns(self.where, path, target) else set()

    def step(self, at: LeafStep) -> tuple[LeafStep, Slots]:
        if not concerns(self.where, at.path, at.target):
            return at, {}
        factor = tf.cast(at.hyper["weight_decay"], at.leaf.dtype)
        return at.with_grad(at.grad + factor * at.leaf), {}

    @classmethod
    def variants(cls) -> list[Rule]:
        return [cls(0.1), cls(0.1, where="**/kernel")]
