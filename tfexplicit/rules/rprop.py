"""Resilient backpropagation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import tensorflow as tf

from tfexplicit.hyperparameters import Fraction, NonNegative, Positive
from tfexplicit.rule import Rule, Slots


def rprop_step(
    slots: Slots,
    grad: Any,
    learning_rate: Any,
    eta_minus: Any,
    eta_plus: Any,
    step_min: Any,
    step_max: Any,
) -> tuple[Any, Slots]:
    """`(step to subtract, new slots)`: only the sign of the gradient counts.

    Riedmiller and Braun 1993, https://doi.org/10.1109/ICNN.1993.298623, in the form that forgets
    the gradient and does not move where its sign has changed. A step size is `learning_rate *
    scale`: from 1, the scale grows while the sign stays, and shrinks where it changes.
    """
    dtype = grad.dtype
    agreement = grad * slots["last_grad"]
    factor = tf.where(
        agreement > 0,
        tf.cast(eta_plus, dtype),
        tf.where(agreement < 0, tf.cast(eta_minus, dtype), tf.ones([], dtype)),
    )
    scale = slots["scale"] * factor
    rate = tf.cast(learning_rate, dtype)
    size = tf.clip_by_value(scale * rate, tf.cast(step_min, dtype), tf.cast(step_max, dtype))
    used = tf.where(agreement < 0, tf.zeros_like(grad), grad)
    # A learning rate of 0 stops the leaf, and says nothing of the scale.
    running = rate > 0
    kept_scale = tf.where(running, size / tf.where(running, rate, tf.ones_like(rate)), scale)
    step = tf.where(running, size, tf.zeros_like(size))
    return step * tf.sign(used), {"last_grad": used, "scale": kept_scale}


@dataclass(frozen=True, eq=False, repr=False)
class Rprop(Rule):
    """`Rprop` of Optimisers.jl and PyTorch, for gradients of the whole data. Real leaves only.

    Riedmiller and Braun 1993, https://doi.org/10.1109/ICNN.1993.298623

    `learning_rate` is the size of the first step, and scales every later one: a schedule or
    `adjust` has its effect, where those let it act once. Step sizes stay between `step_min` and
    `step_max`. Slots `last_grad`, `scale`: shape and dtype (at least float32) of the leaf.
    """

    rowwise: ClassVar[bool] = True
    elementwise: ClassVar[bool] = True
    takes_complex: ClassVar[bool] = False

    learning_rate: NonNegative = 0.001
    eta_minus: Fraction = 0.5
    eta_plus: Positive = 1.2
    step_min: NonNegative = 1e-6
    step_max: Positive = 50.0

    def init(self, leaf: Any) -> Slots:
        return {"last_grad": tf.zeros_like(leaf), "scale": tf.ones_like(leaf)}

    def apply(self, slots: Slots, leaf: Any, grad: Any, step: Any) -> tuple[Any, Slots]:
        return rprop_step(
            slots,
            grad,
            self.learning_rate,
            self.eta_minus,
            self.eta_plus,
            self.step_min,
            self.step_max,
        )
