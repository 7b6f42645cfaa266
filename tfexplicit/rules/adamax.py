"""Adamax: Adam with the infinity norm."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import tensorflow as tf

from tfexplicit.fused import Fused, Kernel, Scalars
from tfexplicit.hyperparameters import Fraction, NonNegative
from tfexplicit.keras_optimizers.form import KerasForm
from tfexplicit.moments import larger, moving_average
from tfexplicit.rule import Rule, Slots


def adamax_step(
    slots: Slots, grad: Any, step: Any, learning_rate: Any, beta_1: Any, beta_2: Any, epsilon: Any
) -> tuple[Any, Slots]:
    """`(step to subtract, new slots)`: Kingma and Ba 2014, section 7.1,
    https://arxiv.org/abs/1412.6980"""
    dtype = grad.dtype
    correction = 1 - tf.pow(tf.cast(beta_1, dtype), tf.cast(step, dtype))
    momentum = moving_average(slots["momentum"], grad, beta_1)
    norm = larger(tf.cast(beta_2, dtype) * slots["norm"], tf.cast(tf.abs(grad), dtype))
    scaled = tf.cast(learning_rate, dtype) * momentum
    subtract = scaled / (correction * (norm + tf.cast(epsilon, dtype)))
    return subtract, {"momentum": momentum, "norm": norm}


def _run(leaf: Any, grad: Any, slots: Slots, scalars: Scalars) -> Any:
    return tf.raw_ops.ResourceApplyAdaMax(
        var=leaf, m=slots["momentum"], v=slots["norm"], grad=grad, **scalars
    )


def _scalars(hyper: dict[str, Any], step: Any, dtype: Any) -> Scalars:
    named = {"lr": "learning_rate", "beta1": "beta_1", "beta2": "beta_2", "epsilon": "epsilon"}
    scalars = {argument: tf.cast(hyper[name], dtype) for argument, name in named.items()}
    return {**scalars, "beta1_power": tf.pow(scalars["beta1"], tf.cast(step, dtype))}


SLOTS = ("momentum", "norm")
KERNEL = Kernel(
    _run,
    _scalars,
    at_rest={"lr": 0.0, "beta1": 1.0, "beta2": 1.0, "epsilon": 1.0, "beta1_power": 0.0},
)


@dataclass(frozen=True, eq=False, repr=False)
class Adamax(Rule):
    """Arguments, defaults and numerics of `keras.optimizers.Adamax`.

    Kingma and Ba 2014, section 7.1, https://arxiv.org/abs/1412.6980

    Slots `momentum`, `norm`: shape and dtype (at least float32) of the leaf.
    """

    rowwise: ClassVar[bool] = True
    elementwise: ClassVar[bool] = True
    keeps_slots_with: ClassVar[Mapping[str, float]] = {"beta_1": 1.0, "beta_2": 1.0}

    keras: ClassVar[KerasForm] = KerasForm("Adamax", slots={"momentum": "_m", "norm": "_u"})

    learning_rate: NonNegative = 0.001
    beta_1: Fraction = 0.9
    beta_2: Fraction = 0.999
    epsilon: NonNegative = 1e-7

    def init(self, leaf: Any) -> Slots:
        return {"momentum": tf.zeros_like(leaf), "norm": tf.zeros_like(leaf)}

    def apply(self, slots: Slots, leaf: Any, grad: Any, step: Any) -> tuple[Any, Slots]:
        return adamax_step(
            slots, grad, step, self.learning_rate, self.beta_1, self.beta_2, self.epsilon
        )

    def fused(self, path: str, target: Any) -> Fused | None:
        return Fused(self, SLOTS, KERNEL)
