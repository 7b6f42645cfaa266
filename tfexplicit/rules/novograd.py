"""NovoGrad: one second moment for each leaf."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import tensorflow as tf

from tfexplicit.hyperparameters import Fraction, NonNegative
from tfexplicit.moments import root, squared
from tfexplicit.rule import LeafStep, Rule, Slots


def novograd_step(
    slots: Slots,
    leaf: Any,
    grad: Any,
    is_first: Any,
    learning_rate: Any,
    beta_1: Any,
    beta_2: Any,
    epsilon: Any,
    weight_decay: Any,
    grad_averaging: bool,
) -> tuple[Any, Slots]:
    """`(step to subtract, new slots)`: Ginsburg et al. 2019, https://arxiv.org/abs/1905.11286

    The first step takes the moments as they come. As in TensorFlow Addons the momentum is one of
    steps, with the learning rate inside: the same as the paper's while that stays the same.
    Complex leaves use |grad|^2.
    """
    dtype = grad.dtype
    norm = tf.reduce_sum(tf.math.real(squared(grad)))
    old = slots["velocity"]
    velocity = old + (norm - old) * tf.cast(1 - beta_2, old.dtype)
    velocity = tf.where(is_first, norm, velocity)
    new = {"velocity": velocity}
    if "velocity_hat" in slots:
        new["velocity_hat"] = velocity = tf.maximum(slots["velocity_hat"], velocity)
    scale = root(velocity) + tf.cast(epsilon, velocity.dtype)
    direction = grad / tf.cast(scale, dtype) + leaf * tf.cast(weight_decay, dtype)
    if grad_averaging:
        direction = direction * tf.cast(tf.where(is_first, tf.ones_like(beta_1), 1 - beta_1), dtype)
    step = direction * tf.cast(learning_rate, dtype)
    new["momentum"] = slots["momentum"] * tf.cast(beta_1, dtype) + step
    return new["momentum"], new


@dataclass(frozen=True, eq=False, repr=False)
class NovoGrad(Rule):
    """Arguments, defaults and numerics of `NovoGrad` of TensorFlow Addons.

    Ginsburg et al. 2019, https://arxiv.org/abs/1905.11286

    Slots: `momentum`, with shape and dtype (at least float32) of the leaf; `velocity`, with
    `amsgrad` also `velocity_hat`: real scalars, of float32 or float64.
    """

    learning_rate: NonNegative = 0.001
    beta_1: Fraction = 0.9
    beta_2: Fraction = 0.999
    epsilon: NonNegative = 1e-7
    weight_decay: NonNegative = 0.0
    grad_averaging: bool = False
    amsgrad: bool = False
    is_first: Any = field(default=None, init=False)

    def init(self, leaf: Any) -> Slots:
        names = ("velocity", "velocity_hat") if self.amsgrad else ("velocity",)
        scalar = tf.zeros([], tf.math.real(leaf).dtype)
        return {"momentum": tf.zeros_like(leaf), **dict.fromkeys(names, scalar)}

    def step(self, at: LeafStep) -> tuple[LeafStep, Slots]:
        return super(NovoGrad, self.carrying(is_first=at.is_first)).step(at)

    def apply(self, slots: Slots, leaf: Any, grad: Any, step: Any) -> tuple[Any, Slots]:
        return novograd_step(
            slots,
            leaf,
            grad,
            self.is_first,
            self.learning_rate,
            self.beta_1,
            self.beta_2,
            self.epsilon,
            self.weight_decay,
            self.grad_averaging,
        )

    @classmethod
    def variants(cls) -> list[Rule]:
        return [cls(), cls(grad_averaging=True, weight_decay=1e-4), cls(amsgrad=True)]
