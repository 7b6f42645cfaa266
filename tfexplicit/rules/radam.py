"""Rectified Adam."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import tensorflow as tf

from tfexplicit.hyperparameters import Fraction, NonNegative
from tfexplicit.moments import adam_moments, adam_slots, bias_correction, root
from tfexplicit.rule import Rule, Slots


def rectified(momentum: Any, adaptive: Any, step: Any, beta_2: Any, sma_threshold: Any) -> Any:
    """`adaptive` times its variance rectification, or `momentum` while the average is too short.

    Liu et al. 2019, section 4, https://arxiv.org/abs/1908.03265. The length of the approximated
    simple moving average is a difference of large numbers, so it is computed in float64.
    """
    longest = 2 / (1 - beta_2) - 1
    correction = bias_correction(beta_2, step)
    length = longest - 2 * tf.cast(step, tf.float64) * (1 - correction) / correction
    defined = tf.logical_and(length > 4, longest > 4)
    # Any numbers above 4 will do where the rectification is not defined, and not used.
    at = tf.where(defined, length, tf.constant(5.0, tf.float64))
    end = tf.where(defined, longest, tf.constant(5.0, tf.float64))
    factor = tf.sqrt((at - 4) * (at - 2) * end / ((end - 4) * (end - 2) * at))
    adapts = tf.logical_and(defined, length >= sma_threshold)
    return tf.where(adapts, tf.cast(factor, adaptive.dtype) * adaptive, momentum)


def radam_step(
    slots: Slots,
    grad: Any,
    step: Any,
    beta_1: Any,
    beta_2: Any,
    epsilon: Any,
    sma_threshold: Any,
) -> tuple[Any, Slots]:
    """`(direction, new slots)`: Algorithm 2 of Liu et al. 2019, https://arxiv.org/abs/1908.03265

    The hyperparameters are float64 scalars; complex leaves use |grad|^2. A slot `velocity_hat`
    asks for the maximum of the second moments, as in AMSGrad.
    """
    dtype = grad.dtype
    momentum, velocity, new = adam_moments(slots, grad, beta_1, beta_2)
    momentum = momentum / tf.cast(bias_correction(beta_1, step), dtype)
    velocity = velocity / tf.cast(bias_correction(beta_2, step), dtype)
    adaptive = momentum / (root(velocity) + tf.cast(epsilon, dtype))
    return rectified(momentum, adaptive, step, beta_2, sma_threshold), new


@dataclass(frozen=True, eq=False, repr=False)
class RAdam(Rule):
    """Arguments, defaults and numerics of `RectifiedAdam` of TensorFlow Addons.

    Liu et al. 2019, https://arxiv.org/abs/1908.03265

    Its warm-up arguments are a schedule: give one as `learning_rate`. `weight_decay` is decoupled.
    Slots `momentum`, `velocity`, with `amsgrad` also `velocity_hat`: shape and dtype (at least
    float32) of the leaf.
    """

    rowwise: ClassVar[bool] = True
    elementwise: ClassVar[bool] = True
    keeps_slots_with: ClassVar[Mapping[str, float]] = {"beta_1": 1.0, "beta_2": 1.0}

    learning_rate: NonNegative = 0.001
    beta_1: Fraction = 0.9
    beta_2: Fraction = 0.999
    epsilon: NonNegative = 1e-7
    weight_decay: NonNegative = 0.0
    amsgrad: bool = False
    sma_threshold: NonNegative = 5.0

    def init(self, leaf: Any) -> Slots:
        return adam_slots(leaf, self.amsgrad)

    def apply(self, slots: Slots, leaf: Any, grad: Any, step: Any) -> tuple[Any, Slots]:
        direction, new = radam_step(
            slots,
            grad,
            step,
            self.beta_1,
            self.beta_2,
            self.epsilon,
            self.sma_threshold,
        )
        decay = leaf * tf.cast(self.weight_decay, direction.dtype)
        subtract = (direction + decay) * tf.cast(self.learning_rate, direction.dtype)
        return subtract, new

    @classmethod
    def variants(cls) -> list[Rule]:
        return [cls(), cls(amsgrad=True), cls(weight_decay=1e-4)]
