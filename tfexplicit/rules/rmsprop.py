"""RMSprop."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import tensorflow as tf

from tfexplicit.fused import Fused, Kernel, Scalars
from tfexplicit.hyperparameters import Fraction, NonNegative, is_zero
from tfexplicit.keras_optimizers.form import KerasForm
from tfexplicit.moments import squared
from tfexplicit.rule import Rule, Slots


def rmsprop_step(
    slots: Slots, grad: Any, learning_rate: Any, rho: Any, momentum: Any, epsilon: Any
) -> tuple[Any, Slots]:
    """`(step to subtract, new slots)`, with epsilon inside the root as Keras has it.

    Tieleman and Hinton 2012, https://www.cs.toronto.edu/~hinton/coursera/lecture6/lec6.pdf; with a
    slot `average_gradient`, centered: Graves 2013, equations 38-45, https://arxiv.org/abs/1308.0850.
    """
    dtype = grad.dtype
    keep, take = tf.cast(rho, dtype), tf.cast(1 - rho, dtype)
    new = {"velocity": keep * slots["velocity"] + take * squared(grad)}
    epsilon = tf.cast(epsilon, dtype)
    variance = new["velocity"] + epsilon
    if "average_gradient" in slots:
        average = new["average_gradient"] = keep * slots["average_gradient"] + take * grad
        variance = new["velocity"] - squared(average) + epsilon
        # Rounding can bring it below 0, of which Keras takes the root.
        variance = tf.where(tf.math.real(variance) <= 0, epsilon, variance)
    subtract = tf.cast(learning_rate, dtype) * grad / tf.sqrt(variance)
    if "momentum" in slots:
        subtract = new["momentum"] = tf.cast(momentum, dtype) * slots["momentum"] + subtract
    return subtract, new


def _run(leaf: Any, grad: Any, slots: Slots, scalars: Scalars) -> Any:
    return tf.raw_ops.ResourceApplyRMSProp(
        var=leaf, ms=slots["velocity"], mom=slots["momentum"], grad=grad, **scalars
    )


def _scalars(hyper: dict[str, Any], step: Any, dtype: Any) -> Scalars:
    named = {"lr": "learning_rate", "rho": "rho", "momentum": "momentum", "epsilon": "epsilon"}
    return {argument: tf.cast(hyper[name], dtype) for argument, name in named.items()}


KERNEL = Kernel(_run, _scalars)


@dataclass(frozen=True, eq=False, repr=False)
class RMSprop(Rule):
    """Arguments, defaults and numerics of `keras.optimizers.RMSprop`.

    Tieleman and Hinton 2012, https://www.cs.toronto.edu/~hinton/coursera/lecture6/lec6.pdf;
    `centered`: Graves 2013, https://arxiv.org/abs/1308.0850. Epsilon is inside the root.

    Slots `velocity`, with a momentum that is not 0 also `momentum`, with `centered` also
    `average_gradient`: shape and dtype (at least float32) of the leaf.
    """

    rowwise: ClassVar[bool] = True
    elementwise: ClassVar[bool] = True
    keeps_slots_with: ClassVar[Mapping[str, float]] = {
        "rho": 1.0,
        "learning_rate": 0.0,
        "momentum": 1.0,
        "epsilon": 1.0,
    }

    keras: ClassVar[KerasForm] = KerasForm(
        "RMSprop",
        slots={
            "velocity": "_velocities",
            "momentum": "_momentums",
            "average_gradient": "_average_gradients",
        },
        in_tf_keras=False,
    )

    learning_rate: NonNegative = 0.001
    rho: Fraction = 0.9
    momentum: Fraction = 0.0
    epsilon: NonNegative = 1e-7
    centered: bool = False

    def hyperparameters(self) -> dict[str, Any]:
        named = super().hyperparameters()
        if is_zero(self.momentum):
            # There is no slot for one that is set later.
            del named["momentum"]
        return named

    def init(self, leaf: Any) -> Slots:
        return {name: tf.zeros_like(leaf) for name in self._slot_names()}

    def _slot_names(self) -> tuple[str, ...]:
        optional = {"momentum": not is_zero(self.momentum), "average_gradient": self.centered}
        return ("velocity", *(name for name, is_kept in optional.items() if is_kept))

    def apply(self, slots: Slots, leaf: Any, grad: Any, step: Any) -> tuple[Any, Slots]:
        return rmsprop_step(slots, grad, self.learning_rate, self.rho, self.momentum, self.epsilon)

    def fused(self, path: str, target: Any) -> Fused | None:
        # The op has a slot for the momentum in any case; centered, it takes roots below 0.
        has_op = not is_zero(self.momentum) and not self.centered
        return Fused(self, self._slot_names(), KERNEL if has_op else None)

    @classmethod
    def variants(cls) -> list[Rule]:
        return [
            cls(),
            cls(momentum=0.9),
            cls(centered=True),
            cls(momentum=0.9, centered=True),
        ]
