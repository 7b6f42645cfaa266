"""Lamb: Adam with a step as long as the leaf."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import tensorflow as tf

from tfexplicit.hyperparameters import Fraction, NonNegative
from tfexplicit.keras_optimizers.form import KerasForm
from tfexplicit.moments import adam_moments, root, squared
from tfexplicit.rule import Rule, Slots


def lamb_direction(
    slots: Slots, grad: Any, step: Any, beta_1: Any, beta_2: Any, epsilon: Any
) -> tuple[Any, Slots]:
    """`(direction, new slots)`: that of Adam with epsilon after the bias correction."""
    dtype = grad.dtype
    count = tf.cast(step, dtype)
    beta_1_power = tf.pow(tf.cast(beta_1, dtype), count)
    beta_2_power = tf.pow(tf.cast(beta_2, dtype), count)
    momentum, velocity, new = adam_moments(slots, grad, beta_1, beta_2)
    scale = root(velocity / (1 - beta_2_power)) + tf.cast(epsilon, dtype)
    return momentum / (1 - beta_1_power) / scale, new


def trust_ratio(leaf: Any, direction: Any) -> Any:
    """|leaf| / |direction|, 1 where either is 0: You et al. 2019, algorithm 2,
    https://arxiv.org/abs/1904.00962"""
    length, step_length = (root(tf.reduce_sum(squared(x))) for x in (leaf, direction))
    defined = (tf.math.real(length) > 0) & (tf.math.real(step_length) > 0)
    one = tf.ones_like(length)
    return tf.where(defined, length / tf.where(defined, step_length, one), one)


@dataclass(frozen=True, eq=False, repr=False)
class Lamb(Rule):
    """Arguments, defaults and numerics of `keras.optimizers.Lamb`.

    You et al. 2019, algorithm 2, https://arxiv.org/abs/1904.00962

    Slots `momentum`, `velocity`: shape and dtype (at least float32) of the leaf.
    """

    looks_at_leaf: ClassVar[bool] = True

    keras: ClassVar[KerasForm] = KerasForm(
        "Lamb", slots={"momentum": "_momentums", "velocity": "_velocities"}
    )

    learning_rate: NonNegative = 0.001
    beta_1: Fraction = 0.9
    beta_2: Fraction = 0.999
    epsilon: NonNegative = 1e-7

    def init(self, leaf: Any) -> Slots:
        return {"momentum": tf.zeros_like(leaf), "velocity": tf.zeros_like(leaf)}

    def apply(self, slots: Slots, leaf: Any, grad: Any, step: Any) -> tuple[Any, Slots]:
        direction, slots = lamb_direction(slots, grad, step, self.beta_1, self.beta_2, self.epsilon)
        rate = tf.cast(self.learning_rate, leaf.dtype)
        return trust_ratio(leaf, direction) * rate * direction, slots
