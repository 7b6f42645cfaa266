"""Adadelta."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import tensorflow as tf

from tfexplicit.fused import Fused, Kernel, Scalars
from tfexplicit.hyperparameters import Fraction, NonNegative
from tfexplicit.keras_optimizers.form import KerasForm
from tfexplicit.moments import squared
from tfexplicit.rule import Rule, Slots


def adadelta_step(slots: Slots, grad: Any, rho: Any, epsilon: Any) -> tuple[Any, Slots]:
    """`(step before the learning rate, new slots)`: Zeiler 2012, https://arxiv.org/abs/1212.5701"""
    dtype = grad.dtype
    keep, take = tf.cast(rho, dtype), tf.cast(1 - rho, dtype)
    epsilon = tf.cast(epsilon, dtype)
    grads, deltas = slots["accumulated_grad"], slots["accumulated_delta_var"]
    grads = keep * grads + take * squared(grad)
    delta = tf.sqrt(deltas + epsilon) * grad / tf.sqrt(grads + epsilon)
    deltas = keep * deltas + take * squared(delta)
    return delta, {"accumulated_grad": grads, "accumulated_delta_var": deltas}


def _run(leaf: Any, grad: Any, slots: Slots, scalars: Scalars) -> Any:
    return tf.raw_ops.ResourceApplyAdadelta(
        var=leaf,
        accum=slots["accumulated_grad"],
        accum_update=slots["accumulated_delta_var"],
        grad=grad,
        **scalars,
    )


def _scalars(hyper: dict[str, Any], step: Any, dtype: Any) -> Scalars:
    named = {"lr": "learning_rate", "rho": "rho", "epsilon": "epsilon"}
    return {argument: tf.cast(hyper[name], dtype) for argument, name in named.items()}


SLOTS = ("accumulated_grad", "accumulated_delta_var")
KERNEL = Kernel(
    _run,
    _scalars,
    at_rest={"lr": 0.0, "rho": 1.0, "epsilon": 1.0},
)


@dataclass(frozen=True, eq=False, repr=False)
class Adadelta(Rule):
    """Arguments, defaults and numerics of `keras.optimizers.Adadelta`.

    Zeiler 2012, https://arxiv.org/abs/1212.5701

    The paper has a learning rate of 1. Slots `accumulated_grad`, `accumulated_delta_var`: shape and
    dtype (at least float32) of the leaf.
    """

    rowwise: ClassVar[bool] = True
    elementwise: ClassVar[bool] = True
    keeps_slots_with: ClassVar[Mapping[str, float]] = {"rho": 1.0}

    keras: ClassVar[KerasForm] = KerasForm(
        "Adadelta",
        slots={
            "accumulated_grad": "_accumulated_grads",
            "accumulated_delta_var": "_accumulated_delta_vars",
        },
        in_tf_keras=False,
    )

    learning_rate: NonNegative = 0.001
    rho: Fraction = 0.95
    epsilon: NonNegative = 1e-7

    def init(self, leaf: Any) -> Slots:
        names = ("accumulated_grad", "accumulated_delta_var")
        return {name: tf.zeros_like(leaf) for name in names}

    def apply(self, slots: Slots, leaf: Any, grad: Any, step: Any) -> tuple[Any, Slots]:
        delta, slots = adadelta_step(slots, grad, self.rho, self.epsilon)
        return tf.cast(self.learning_rate, leaf.dtype) * delta, slots

    def fused(self, path: str, target: Any) -> Fused | None:
        return Fused(self, SLOTS, KERNEL)
