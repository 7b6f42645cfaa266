"""Clip each unit's gradient in proportion to its weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import tensorflow as tf

from tfexplicit.hyperparameters import NonNegative, Positive
from tfexplicit.rule import Rule, Slots
from tfexplicit.rules.centralize import axes_of_a_unit


def unit_norm(array: Any) -> Any:
    """The L2 norm of what feeds each output unit, real, shaped to broadcast over the array."""
    squares = tf.square(tf.abs(array))
    return tf.sqrt(tf.reduce_sum(squares, axis=axes_of_a_unit(array), keepdims=True))


@dataclass(frozen=True, eq=False, repr=False)
class AdaptiveClip(Rule):
    """Norm of each unit's gradient to at most `clip_factor` times the norm of its weights.

    Adaptive gradient clipping (AGC): Brock et al. 2021, https://arxiv.org/abs/2102.06171. A unit
    is one entry of the last axis, as Keras lays out dense and convolution kernels; a leaf with one
    axis or none is one unit. No slots.

    Args:
        clip_factor: the paper's lambda.
        epsilon: the least norm that weights count as, so that those that start at zero can grow.
    """

    moves: ClassVar[bool] = False
    clip_factor: Positive = 0.01
    epsilon: NonNegative = 1e-3

    def apply(self, slots: Slots, leaf: Any, grad: Any, step: Any) -> tuple[Any, Slots]:
        norm = unit_norm(grad)
        least = tf.cast(self.epsilon, norm.dtype)
        limit = tf.cast(self.clip_factor, norm.dtype) * tf.maximum(unit_norm(leaf), least)
        exceeds = norm > limit
        # The inner `where` keeps a gradient of this from becoming NaN where the norm is zero.
        scale = tf.where(exceeds, limit / tf.where(exceeds, norm, 1), 1)
        return grad * tf.cast(scale, grad.dtype), slots

    @classmethod
    def variants(cls) -> list[Rule]:
        return [cls(0.1)]
