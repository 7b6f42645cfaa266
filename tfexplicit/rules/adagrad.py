"""Adagrad."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import tensorflow as tf

from tfexplicit.fused import Fused
from tfexplicit.hyperparameters import Bounds, NonNegative, check
from tfexplicit.keras_optimizers.form import KerasForm
from tfexplicit.moments import squared
from tfexplicit.rule import Rule, Slots


def adagrad_step(accumulator: Any, grad: Any, learning_rate: Any, epsilon: Any) -> tuple[Any, Any]:
    """`(step to subtract, new accumulator)`, with epsilon inside the root as Keras has it.

    Duchi et al. 2011, https://jmlr.org/papers/v12/duchi11a.html
    """
    dtype = grad.dtype
    accumulator = accumulator + squared(grad)
    scaled = tf.cast(learning_rate, dtype) * grad
    return scaled / tf.sqrt(accumulator + tf.cast(epsilon, dtype)), accumulator


@dataclass(frozen=True, eq=False, repr=False)
class Adagrad(Rule):
    """Arguments, defaults and numerics of `keras.optimizers.Adagrad`.

    Duchi et al. 2011, https://jmlr.org/papers/v12/duchi11a.html. Epsilon is inside the root.

    Slot `accumulator`: shape and dtype (at least float32) of the leaf, `initial_accumulator_value`
    at first.
    """

    rowwise: ClassVar[bool] = True
    elementwise: ClassVar[bool] = True
    keeps_slots_with: ClassVar[Mapping[str, float]] = {}

    keras: ClassVar[KerasForm] = KerasForm("Adagrad", slots={"accumulator": "_accumulators"})

    learning_rate: NonNegative = 0.001
    initial_accumulator_value: float = 0.1
    epsilon: NonNegative = 1e-7

    def __post_init__(self) -> None:
        super().__post_init__()
        name = "initial_accumulator_value"
        check("Adagrad", name, self.initial_accumulator_value, Bounds(low=0.0))

    def init(self, leaf: Any) -> Slots:
        # From a Python number TensorFlow makes a float32 first; Keras starts there too.
        return {
            "accumulator": tf.fill(leaf.shape, tf.cast(self.initial_accumulator_value, leaf.dtype))
        }

    def apply(self, slots: Slots, leaf: Any, grad: Any, step: Any) -> tuple[Any, Slots]:
        subtract, accumulator = adagrad_step(
            slots["accumulator"], grad, self.learning_rate, self.epsilon
        )
        return subtract, {"accumulator": accumulator}

    def fused(self, path: str, target: Any) -> Fused | None:
        return Fused(self, ("accumulator",))
