"""Nadam: Adam with Nesterov momentum."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import tensorflow as tf

from tfexplicit.hyperparameters import Fraction, NonNegative
from tfexplicit.moments import adam_moments, bias_correction, root
from tfexplicit.rule import Rule, Slots

# The schedule of beta_1 in section 3 of the report: beta_1 * (1 - 0.5 * 0.96^t).
DECAY = 0.96
# Taylor: log(1 - 0.5 x) = -sum of (0.5 x)^k / k. At x <= 0.96 fifty terms are exact in float64.
_ORDERS = np.arange(1.0, 51.0)
_WEIGHTS = (0.5 * DECAY) ** _ORDERS / (_ORDERS * (1 - DECAY**_ORDERS))


def scheduled(beta_1: Any, count: Any) -> Any:
    return beta_1 * (1 - 0.5 * tf.pow(tf.constant(DECAY, tf.float64), count))


def product_of_scheduled(beta_1: Any, count: Any) -> Any:
    """The product of `scheduled(beta_1, i)` for i = 1 to `count`, in closed form.

    Keras multiplies it up in a variable that all leaves share. Computed from the count, it is right
    for a leaf that joined late or was frozen. All float64.
    """
    powers = tf.pow(tf.constant(DECAY, tf.float64), tf.constant(_ORDERS) * count)
    logarithm = -tf.reduce_sum(tf.constant(_WEIGHTS) * (1 - powers))
    return tf.pow(beta_1, count) * tf.exp(logarithm)


def nadam_step(
    slots: Slots, grad: Any, step: Any, learning_rate: Any, beta_1: Any, beta_2: Any, epsilon: Any
) -> tuple[Any, Slots]:
    """`(step to subtract, new slots)`: Dozat 2016,
    https://cs229.stanford.edu/proj2015/054_report.pdf

    The hyperparameters are float64 scalars; complex leaves use |grad|^2.
    """
    dtype = grad.dtype
    count = tf.cast(step, tf.float64)
    now, product = scheduled(beta_1, count), product_of_scheduled(beta_1, count)
    then = scheduled(beta_1, count + 1)
    momentum, velocity, new = adam_moments(slots, grad, beta_1, beta_2)
    ahead = tf.cast(then / (1 - product * then), dtype) * momentum
    ahead += tf.cast((1 - now) / (1 - product), dtype) * grad
    corrected = velocity / tf.cast(bias_correction(beta_2, step), dtype)
    subtract = ahead * tf.cast(learning_rate, dtype) / (root(corrected) + tf.cast(epsilon, dtype))
    return subtract, new


@dataclass(frozen=True, eq=False, repr=False)
class Nadam(Rule):
    """Arguments, defaults and numerics of `keras.optimizers.Nadam`.

    Dozat 2016, https://cs229.stanford.edu/proj2015/054_report.pdf

    Slots `momentum`, `velocity`: shape and dtype (at least float32) of the leaf.
    """

    rowwise: ClassVar[bool] = True
    elementwise: ClassVar[bool] = True

    learning_rate: NonNegative = 0.001
    beta_1: Fraction = 0.9
    beta_2: Fraction = 0.999
    epsilon: NonNegative = 1e-7

    def init(self, leaf: Any) -> Slots:
        return {"momentum": tf.zeros_like(leaf), "velocity": tf.zeros_like(leaf)}

    def apply(self, slots: Slots, leaf: Any, grad: Any, step: Any) -> tuple[Any, Slots]:
        return nadam_step(
            slots, grad, step, self.learning_rate, self.beta_1, self.beta_2, self.epsilon
        )
