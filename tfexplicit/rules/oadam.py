"""Optimistic Adam."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import tensorflow as tf

from tfexplicit.hyperparameters import Fraction, NonNegative
from tfexplicit.moments import adam_moments, bias_correction, root
from tfexplicit.rule import Rule, Slots


def oadam_step(
    slots: Slots, grad: Any, step: Any, learning_rate: Any, beta_1: Any, beta_2: Any, epsilon: Any
) -> tuple[Any, Slots]:
    """`(step to subtract, new slots)`: twice the step of Adam, less that of the time before.

    Daskalakis et al. 2017, algorithm 1, https://arxiv.org/abs/1711.00141; epsilon is added after
    the bias correction. Complex leaves use |grad|^2.
    """
    dtype = grad.dtype
    momentum, velocity, new = adam_moments(slots, grad, beta_1, beta_2)
    forecast = momentum / tf.cast(bias_correction(beta_1, step), dtype)
    spread = root(velocity / tf.cast(bias_correction(beta_2, step), dtype))
    adam = tf.cast(learning_rate, dtype) * forecast / (spread + tf.cast(epsilon, dtype))
    return 2 * adam - slots["last_step"], {**new, "last_step": adam}


@dataclass(frozen=True, eq=False, repr=False)
class OAdam(Rule):
    """`OAdam` of Optimisers.jl, for games such as the training of a GAN.

    Daskalakis et al. 2017, algorithm 1, https://arxiv.org/abs/1711.00141

    Slots `momentum`, `velocity`, `last_step`: shape and dtype (at least float32) of the leaf.
    """

    rowwise: ClassVar[bool] = True
    elementwise: ClassVar[bool] = True

    learning_rate: NonNegative = 0.001
    beta_1: Fraction = 0.5
    beta_2: Fraction = 0.9
    epsilon: NonNegative = 1e-8

    def init(self, leaf: Any) -> Slots:
        return {name: tf.zeros_like(leaf) for name in ("momentum", "velocity", "last_step")}

    def apply(self, slots: Slots, leaf: Any, grad: Any, step: Any) -> tuple[Any, Slots]:
        return oadam_step(
            slots,
            grad,
            step,
            self.learning_rate,
            self.beta_1,
            self.beta_2,
            self.epsilon,
        )
