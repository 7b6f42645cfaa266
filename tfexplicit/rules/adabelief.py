"""AdaBelief: steps as large as the gradient is near to its forecast."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import tensorflow as tf

from tfexplicit.hyperparameters import Fraction, NonNegative
from tfexplicit.moments import (
    adam_slots,
    bias_correction,
    larger,
    moving_average,
    root,
    squared,
)
from tfexplicit.rule import Rule, Slots
from tfexplicit.rules.radam import rectified


def adabelief_step(
    slots: Slots, grad: Any, step: Any, beta_1: Any, beta_2: Any, epsilon: Any
) -> tuple[Any, Any, Slots]:
    """`(bias-corrected momentum, adaptive direction, new slots)`.

    Zhuang et al. 2020, algorithm 2, https://arxiv.org/abs/2010.07468: epsilon is added to the
    second moment and again to its root. Complex leaves use |grad - momentum|^2.
    """
    dtype = grad.dtype
    epsilon = tf.cast(epsilon, dtype)
    momentum = moving_average(slots["momentum"], grad, beta_1)
    velocity = moving_average(slots["velocity"], squared(grad - momentum), beta_2) + epsilon
    new = {"momentum": momentum, "velocity": velocity}
    if "velocity_hat" in slots:
        new["velocity_hat"] = velocity = larger(slots["velocity_hat"], velocity)
    momentum = momentum / tf.cast(bias_correction(beta_1, step), dtype)
    velocity = velocity / tf.cast(bias_correction(beta_2, step), dtype)
    return momentum, momentum / (root(velocity) + epsilon), new


@dataclass(frozen=True, eq=False, repr=False)
class AdaBelief(Rule):
    """Arguments, defaults and numerics of `AdaBelief` of TensorFlow Addons.

    Zhuang et al. 2020, https://arxiv.org/abs/2010.07468

    `rectify` steps as `RAdam` does while the average is short; the paper's algorithm is
    `rectify=False`. The warm-up arguments are a schedule: give one as `learning_rate`.
    `weight_decay` is decoupled. Slots `momentum`, `velocity`, with `amsgrad` also `velocity_hat`:
    shape and dtype (at least float32) of the leaf.
    """

    rowwise: ClassVar[bool] = True
    elementwise: ClassVar[bool] = True

    learning_rate: NonNegative = 0.001
    beta_1: Fraction = 0.9
    beta_2: Fraction = 0.999
    epsilon: NonNegative = 1e-14
    weight_decay: NonNegative = 0.0
    amsgrad: bool = False
    rectify: bool = True
    sma_threshold: NonNegative = 5.0

    def init(self, leaf: Any) -> Slots:
        return adam_slots(leaf, self.amsgrad)

    def apply(self, slots: Slots, leaf: Any, grad: Any, step: Any) -> tuple[Any, Slots]:
        momentum, direction, new = adabelief_step(
            slots, grad, step, self.beta_1, self.beta_2, self.epsilon
        )
        if self.rectify:
            direction = rectified(momentum, direction, step, self.beta_2, self.sma_threshold)
        decay = leaf * tf.cast(self.weight_decay, direction.dtype)
        subtract = (direction + decay) * tf.cast(self.learning_rate, direction.dtype)
        return subtract, new

    @classmethod
    def variants(cls) -> list[Rule]:
        return [cls(), cls(rectify=False), cls(amsgrad=True), cls(weight_decay=1e-4)]
