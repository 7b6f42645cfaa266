"""Clip every element of the gradient."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import tensorflow as tf

from tfexplicit.hyperparameters import Positive
from tfexplicit.rule import Rule, Slots


@dataclass(frozen=True, eq=False, repr=False)
class ClipByValue(Rule):
    """Each element into `[-clipvalue, clipvalue]`, as Keras' `clipvalue`.

    A complex element keeps its direction; its absolute value is clipped. No slots.
    """

    rowwise: ClassVar[bool] = True
    elementwise: ClassVar[bool] = True
    moves: ClassVar[bool] = False
    keeps_slots_with: ClassVar[Mapping[str, float]] = {}

    clipvalue: Positive

    def apply(self, slots: Slots, leaf: Any, grad: Any, step: Any) -> tuple[Any, Slots]:
        limit = tf.cast(self.clipvalue, grad.dtype.real_dtype)
        if grad.dtype.is_complex:
            return grad * tf.cast(limit / tf.maximum(tf.abs(grad), limit), grad.dtype), slots
        return tf.clip_by_value(grad, -limit, limit), slots

    @classmethod
    def variants(cls) -> list[Rule]:
        return [cls(0.3)]
