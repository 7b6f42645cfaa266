"""Centralise the gradient."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import tensorflow as tf

from tfexplicit.rule import Rule, Slots


def axes_of_a_unit(array: Any) -> list[int] | None:
    """All axes but the last, which counts output units in Keras; None if there is only one."""
    return list(range(array.shape.rank - 1)) if array.shape.rank > 1 else None


@dataclass(frozen=True, eq=False, repr=False)
class Centralize(Rule):
    """Subtracts from each unit's gradient its mean: gradient centralisation.

    Yong et al. 2020, https://arxiv.org/abs/2004.01461. A unit is one entry of the last axis, as
    Keras lays out dense and convolution kernels; a leaf with one axis or none (a bias) stays
    as it is. First in a chain. No slots, no arguments.
    """

    moves: ClassVar[bool] = False

    def apply(self, slots: Slots, leaf: Any, grad: Any, step: Any) -> tuple[Any, Slots]:
        axes = axes_of_a_unit(grad)
        if axes is None:
            return grad, slots
        return grad - tf.reduce_mean(grad, axis=axes, keepdims=True), slots
