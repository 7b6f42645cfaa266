"""Decay by a constant amount: an L1 penalty."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import tensorflow as tf

from tfexplicit.hyperparameters import NonNegative
from tfexplicit.rule import Rule, Slots


@dataclass(frozen=True, eq=False, repr=False)
class SignDecay(Rule):
    """Adds `sign_decay * sign(leaf)` to the gradient; a loss term `sign_decay * sum |leaf|`.

    First in a chain it is L1 regularisation (Tibshirani 1996). The sign of a complex leaf is
    `leaf / |leaf|`. No slots.
    """

    elementwise: ClassVar[bool] = True
    moves: ClassVar[bool] = False
    sign_decay: NonNegative = 1e-3

    def apply(self, slots: Slots, leaf: Any, grad: Any, step: Any) -> tuple[Any, Slots]:
        return grad + tf.cast(self.sign_decay, leaf.dtype) * tf.sign(leaf), slots

    @classmethod
    def variants(cls) -> list[Rule]:
        return [cls(0.1)]
