"""Adam."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import tensorflow as tf

from tfexplicit.hyperparameters import Fraction, NonNegative
from tfexplicit.keras_optimizers.form import KerasForm
from tfexplicit.moments import adam_moments, adam_slots, root
from tfexplicit.rule import Rule, Slots


def adam_step(
    slots: Slots, grad: Any, step: Any, learning_rate: Any, beta_1: Any, beta_2: Any, epsilon: Any
) -> tuple[Any, Slots]:
    """`(step to subtract, new slots)`, with epsilon and bias correction where Keras has them.

    Kingma and Ba 2014, https://arxiv.org/abs/1412.6980 ("epsilon hat" of section 2.1); with a slot
    `velocity_hat`, AMSGrad: Reddi et al. 2018, https://openreview.net/forum?id=ryQu7f-RZ.
    The hyperparameters are float64 scalars; complex leaves use |grad|^2.
    """
    dtype = grad.dtype
    count = tf.cast(step, dtype)
    beta_1_power = tf.pow(tf.cast(beta_1, dtype), count)
    beta_2_power = tf.pow(tf.cast(beta_2, dtype), count)
    alpha = tf.cast(learning_rate, dtype) * tf.sqrt(1 - beta_2_power) / (1 - beta_1_power)
    momentum, velocity, new = adam_moments(slots, grad, beta_1, beta_2)
    return momentum * alpha / (root(velocity) + tf.cast(epsilon, dtype)), new


@dataclass(frozen=True, eq=False, repr=False)
class Adam(Rule):
    """Arguments, defaults and numerics of `keras.optimizers.Adam`.

    Kingma and Ba 2014, https://arxiv.org/abs/1412.6980 (epsilon is the "epsilon hat" of section
    2.1); `amsgrad`: Reddi et al. 2018, https://openreview.net/forum?id=ryQu7f-RZ. Complex leaves
    use |grad|^2.

    Slots `momentum`, `velocity`, with `amsgrad` also `velocity_hat`: shape and dtype (at least
    float32) of the leaf.
    """

    rowwise: ClassVar[bool] = True

    keras: ClassVar[KerasForm] = KerasForm(
        "Adam",
        slots={
            "momentum": "_momentums",
            "velocity": "_velocities",
            "velocity_hat": "_velocity_hats",
        },
        with_weight_decay="AdamW",
        requires={"adaptive_epsilon": False},
    )

    learning_rate: NonNegative = 0.001
    beta_1: Fraction = 0.9
    beta_2: Fraction = 0.999
    epsilon: NonNegative = 1e-7
    amsgrad: bool = False

    def init(self, leaf: Any) -> Slots:
        return adam_slots(leaf, self.amsgrad)

    def apply(self, slots: Slots, leaf: Any, grad: Any, step: Any) -> tuple[Any, Slots]:
        return adam_step(
            slots, grad, step, self.learning_rate, self.beta_1, self.beta_2, self.epsilon
        )

    @classmethod
    def variants(cls) -> list[Rule]:
        return [cls(), cls(amsgrad=True)]
