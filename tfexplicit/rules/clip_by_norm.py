"""Clip the norm of each leaf's gradient."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import tensorflow as tf

from tfexplicit.hyperparameters import Positive
from tfexplicit.rule import LeafStep, Rule, Slots


def clipped(grad: Any, counted: Any, limit: Any) -> Any:
    """`grad`, scaled down if the L2 norm of `counted` is above `limit`: Pascanu et al. 2012,
    https://arxiv.org/abs/1211.5063"""
    square = tf.reduce_sum(counted * tf.math.conj(counted))
    # The root of zero has no derivative.
    is_zero = tf.equal(square, 0)
    norm = tf.where(is_zero, square, tf.sqrt(tf.where(is_zero, tf.ones_like(square), square)))
    if grad.dtype.is_complex:
        norm = tf.cast(tf.maximum(tf.math.real(norm), tf.math.real(limit)), grad.dtype)
        return grad * limit / norm
    return grad * limit / tf.maximum(norm, limit)


@dataclass(frozen=True, eq=False, repr=False)
class ClipByNorm(Rule):
    """L2 norm of each leaf's gradient to at most `clipnorm`, as Keras' `clipnorm`.

    Pascanu et al. 2012, https://arxiv.org/abs/1211.5063. No slots.
    """

    rowwise: ClassVar[bool] = True
    moves: ClassVar[bool] = False
    keeps_slots_with: ClassVar[Mapping[str, float]] = {}

    clipnorm: Positive

    def step(self, at: LeafStep) -> tuple[LeafStep, Slots]:
        limit = tf.cast(at.hyper["clipnorm"], at.grad.dtype)
        return at.with_grad(clipped(at.grad, at.once(at.grad), limit)), at.slots

    @classmethod
    def variants(cls) -> list[Rule]:
        return [cls(0.3)]
