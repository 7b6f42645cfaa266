"""Clip the norm of the whole gradient."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import tensorflow as tf

from tfexplicit.hyperparameters import Positive
from tfexplicit.moments import root, squared
from tfexplicit.rule import Rule, Slots


def global_norm(grads: Sequence[Any]) -> Any:
    """The L2 norm of all arrays as one vector: Pascanu et al. 2012,
    https://arxiv.org/abs/1211.5063"""
    squares = [tf.math.real(tf.reduce_sum(squared(grad))) for grad in grads]
    widest = max((square.dtype for square in squares), key=lambda dtype: dtype.size)
    return root(tf.reduce_sum(tf.stack([tf.cast(square, widest) for square in squares])))


@dataclass(frozen=True, eq=False, repr=False)
class ClipByGlobalNorm(Rule):
    """L2 norm of all gradients together to at most `clipnorm`, as Keras' `global_clipnorm`.

    Pascanu et al. 2012, https://arxiv.org/abs/1211.5063. No slots.

    "All" are the leaves that this rule steps. If the norm is not finite, every gradient becomes
    NaN, as in Keras and in `tf.clip_by_global_norm`.
    """

    rowwise: ClassVar[bool] = True
    elementwise: ClassVar[bool] = True
    moves: ClassVar[bool] = False

    clipnorm: Positive
    inverse: Any = field(default=None, init=False)
    nothing: Any = field(default=None, init=False)

    def see(self, grads: Sequence[Any]) -> ClipByGlobalNorm:
        norm = global_norm(grads)
        # Of zero there is nothing to clip, and no inverse to take the gradient of.
        is_zero = tf.equal(norm, 0)
        safe = tf.where(is_zero, tf.ones_like(norm), norm)
        inverse = tf.where(is_zero, tf.constant(math.inf, norm.dtype), 1.0 / safe)
        # Adds zero to a finite scale and makes any other NaN.
        return self.carrying(inverse=inverse, nothing=norm - norm)

    def apply(self, slots: Slots, leaf: Any, grad: Any, step: Any) -> tuple[Any, Slots]:
        limit = tf.cast(self.clipnorm, self.inverse.dtype)
        scale = limit * tf.minimum(self.inverse, 1.0 / limit) + self.nothing
        return grad * tf.cast(scale, grad.dtype), slots

    @classmethod
    def variants(cls) -> list[Rule]:
        return [cls(0.3)]
