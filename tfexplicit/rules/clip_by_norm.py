"""Clip the norm of each leaf's gradient."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from tfexplicit.hyperparameters import Positive
from tfexplicit.rule import Rule, Slots


@dataclass(frozen=True, eq=False, repr=False)
class ClipByNorm(Rule):
    """L2 norm of each leaf's gradient to at most `clipnorm`, as Keras' `clipnorm`."""

    clipnorm: Positive

    def apply(self, slots: Slots, leaf: Any, grad: Any, step: Any) -> tuple[Any, Slots]:
        return tf.clip_by_norm(grad, tf.cast(self.clipnorm, grad.dtype)), slots

    @classmethod
    def variants(cls) -> list[Rule]:
        return [cls(0.3)]
