"""Yogi: a second moment that changes by steps, not by a factor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import tensorflow as tf

from tfexplicit.hyperparameters import Bounds, Fraction, NonNegative, as_float64, check
from tfexplicit.moments import bias_correction, moving_average, root, squared
from tfexplicit.proximal import proximal
from tfexplicit.rule import Rule, Slots


def yogi_step(
    slots: Slots,
    grad: Any,
    step: Any,
    learning_rate: Any,
    beta_1: Any,
    beta_2: Any,
    epsilon: Any,
    activation: str,
) -> tuple[Any, Any, Slots]:
    """`(momentum, learning rate of each element, new slots)`.

    Zaheer et al. 2018, algorithm 2,
    https://papers.nips.cc/paper/8186-adaptive-methods-for-nonconvex-optimization, with the bias
    correction of Adam. The hyperparameters are float64 scalars; complex leaves use |grad|^2.
    """
    square = squared(grad)
    real_square, velocity = tf.math.real(square), tf.math.real(slots["velocity"])
    ahead = real_square - velocity
    direction = tf.sign(ahead) if activation == "sign" else tf.tanh(10 * ahead)
    velocity = velocity + tf.cast(1 - beta_2, velocity.dtype) * direction * real_square
    momentum = moving_average(slots["momentum"], grad, beta_1)
    rate = learning_rate * tf.sqrt(bias_correction(beta_2, step)) / bias_correction(beta_1, step)
    rates = tf.cast(rate, velocity.dtype) / (root(velocity) + tf.cast(epsilon, velocity.dtype))
    return momentum, rates, {"momentum": momentum, "velocity": tf.cast(velocity, grad.dtype)}


@dataclass(frozen=True, eq=False, repr=False)
class Yogi(Rule):
    """Arguments, defaults and numerics of `Yogi` of TensorFlow Addons.

    Zaheer et al. 2018,
    https://papers.nips.cc/paper/8186-adaptive-methods-for-nonconvex-optimization

    `activation`, "sign" or "tanh", is how the second moment goes towards grad^2. Slots `momentum`
    and `velocity`, which starts at `initial_accumulator_value`: shape and dtype (at least float32)
    of the leaf.

    Raises:
        ValueError: `activation` is another one.
    """

    rowwise: ClassVar[bool] = True
    elementwise: ClassVar[bool] = True

    learning_rate: NonNegative = 0.01
    beta1: Fraction = 0.9
    beta2: Fraction = 0.999
    epsilon: NonNegative = 1e-3
    l1_regularization_strength: NonNegative = 0.0
    l2_regularization_strength: NonNegative = 0.0
    initial_accumulator_value: float = 1e-6
    activation: str = "sign"

    def __post_init__(self) -> None:
        super().__post_init__()
        start = self.initial_accumulator_value
        check("Yogi", "initial_accumulator_value", start, Bounds(low=0.0))
        if self.activation not in ("sign", "tanh"):
            raise ValueError(
                f'Yogi: `activation` must be "sign" or "tanh", got {self.activation!r}.'
            )

    def init(self, leaf: Any) -> Slots:
        start = tf.cast(as_float64(self.initial_accumulator_value), leaf.dtype)
        return {"momentum": tf.zeros_like(leaf), "velocity": tf.fill(leaf.shape, start)}

    def apply(self, slots: Slots, leaf: Any, grad: Any, step: Any) -> tuple[Any, Slots]:
        momentum, rates, new = yogi_step(
            slots,
            grad,
            step,
            self.learning_rate,
            self.beta1,
            self.beta2,
            self.epsilon,
            self.activation,
        )
        moved = proximal(
            leaf - tf.cast(rates, momentum.dtype) * momentum,
            rates,
            self.l1_regularization_strength,
            self.l2_regularization_strength,
        )
        return leaf - moved, new

    @classmethod
    def variants(cls) -> list[Rule]:
        penalised = cls(l1_regularization_strength=1e-4, l2_regularization_strength=1e-4)
        return [cls(), cls(activation="tanh"), penalised]
