"""Stochastic gradient descent, with momentum."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import tensorflow as tf

from tfexplicit.fused import Fused, Kernel, Scalars
from tfexplicit.hyperparameters import Fraction, NonNegative, is_zero
from tfexplicit.keras_optimizers.form import KerasForm
from tfexplicit.rule import Rule, Slots


def momentum_step(
    velocity: Any, grad: Any, learning_rate: Any, momentum: Any, nesterov: bool
) -> tuple[Any, Any]:
    """`(step to subtract, new velocity)`; Keras' sign, so the velocity is added to the leaf.

    Polyak 1964; with `nesterov`, Sutskever et al. 2013,
    https://proceedings.mlr.press/v28/sutskever13.html
    """
    velocity = velocity * momentum - grad * learning_rate
    if nesterov:
        return grad * learning_rate - velocity * momentum, velocity
    return -velocity, velocity


def _descend(leaf: Any, grad: Any, slots: Slots, scalars: Scalars) -> Any:
    return tf.raw_ops.ResourceApplyGradientDescent(var=leaf, delta=grad, **scalars)


def _descent_scalars(hyper: dict[str, Any], step: Any, dtype: Any) -> Scalars:
    return {"alpha": tf.cast(hyper["learning_rate"], dtype)}


def _with_momentum(nesterov: bool) -> Kernel:
    def run(leaf: Any, grad: Any, slots: Slots, scalars: Scalars) -> Any:
        return tf.raw_ops.ResourceApplyKerasMomentum(
            var=leaf, accum=slots["momentum"], grad=grad, use_nesterov=nesterov, **scalars
        )

    return Kernel(run, _momentum_scalars)


def _momentum_scalars(hyper: dict[str, Any], step: Any, dtype: Any) -> Scalars:
    named = {"lr": "learning_rate", "momentum": "momentum"}
    return {argument: tf.cast(hyper[name], dtype) for argument, name in named.items()}


DESCENT = Kernel(_descend, _descent_scalars, at_rest={"alpha": 0.0})
MOMENTUM, NESTEROV = _with_momentum(False), _with_momentum(True)


@dataclass(frozen=True, eq=False, repr=False)
class SGD(Rule):
    """`leaf -= learning_rate * grad`; with momentum as `keras.optimizers.SGD`.

    Polyak 1964; with `nesterov`, Sutskever et al. 2013,
    https://proceedings.mlr.press/v28/sutskever13.html

    The slot `momentum` has the leaf's shape and dtype (at least float32), and exists only if
    `momentum` is not 0.
    """

    rowwise: ClassVar[bool] = True
    elementwise: ClassVar[bool] = True
    keeps_slots_with: ClassVar[Mapping[str, float]] = {"learning_rate": 0.0, "momentum": 1.0}

    keras: ClassVar[KerasForm] = KerasForm("SGD", slots={"momentum": "momentums"})

    learning_rate: NonNegative = 0.01
    momentum: Fraction = 0.0
    nesterov: bool = False

    def hyperparameters(self) -> dict[str, Any]:
        # Without the slot a momentum set later would do nothing, so there is none to set.
        named = super().hyperparameters()
        return {"learning_rate": named["learning_rate"]} if is_zero(self.momentum) else named

    def init(self, leaf: Any) -> Slots:
        return {} if is_zero(self.momentum) else {"momentum": tf.zeros_like(leaf)}

    def apply(self, slots: Slots, leaf: Any, grad: Any, step: Any) -> tuple[Any, Slots]:
        learning_rate = tf.cast(self.learning_rate, leaf.dtype)
        if not slots:
            return grad * learning_rate, slots
        momentum = tf.cast(self.momentum, leaf.dtype)
        subtract, velocity = momentum_step(
            slots["momentum"], grad, learning_rate, momentum, self.nesterov
        )
        return subtract, {"momentum": velocity}

    def fused(self, path: str, target: Any) -> Fused | None:
        if is_zero(self.momentum):
            return Fused(self, kernel=DESCENT)
        return Fused(self, ("momentum",), NESTEROV if self.nesterov else MOMENTUM)

    @classmethod
    def variants(cls) -> list[Rule]:
        return [cls(), cls(momentum=0.9), cls(momentum=0.9, nesterov=True)]
