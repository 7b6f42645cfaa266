"""Clip the norm of the whole gradient."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import tensorflow as tf

from tfexplicit.hyperparameters import Positive
from tfexplicit.moments import root
from tfexplicit.rule import Rule, Slots


def global_norm(grads: Sequence[Any]) -> Any:
    """The L2 norm of all arrays as one vector: Pascanu et al. 2012,
    https://arxiv.org/abs/1211.5063"""
    squares = [tf.reduce_sum(tf.square(tf.abs(grad))) for grad in grads]
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
    moves: ClassVar[bool] = False

    clipnorm: Positive
    norm: Any = field(default=None, init=False)

    def see(self, grads: Sequence[Any]) -> ClipByGlobalNorm:
        return self.carrying(norm=global_norm(grads))

    def apply(self, slots: Slots, leaf: Any, grad: Any, step: Any) -> tuple[Any, Slots]:
        limit = tf.cast(self.clipnorm, self.norm.dtype)
        # Of zero there is nothing to clip, and no inverse to take the gradient of.
        norm = tf.where(tf.equal(self.norm, 0), limit, self.norm)
        scale = limit * tf.minimum(1.0 / norm, 1.0 / limit)
        # Adds zero to a finite scale and makes any other NaN.
        scale = scale + (self.norm - self.norm)
        return grad * tf.cast(scale, grad.dtype), slots

    @classmethod
    def variants(cls) -> list[Rule]:
        return [cls(0.3)]
