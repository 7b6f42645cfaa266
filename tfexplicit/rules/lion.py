"""Lion: the sign of an interpolated momentum."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import tensorflow as tf

from tfexplicit.fused import Fused
from tfexplicit.hyperparameters import NonNegative, PositiveFraction
from tfexplicit.keras_optimizers.form import KerasForm
from tfexplicit.moments import blended
from tfexplicit.rule import Rule, Slots


def lion_step(momentum: Any, grad: Any, beta_1: Any, beta_2: Any) -> tuple[Any, Any]:
    """`(direction, new momentum)`: Chen et al. 2023, algorithm 2, https://arxiv.org/abs/2302.06675

    The direction is a sign, so the step has no gradient; of a complex leaf it is z / |z|.
    """
    return tf.sign(blended(momentum, grad, beta_1)), blended(momentum, grad, beta_2)


@dataclass(frozen=True, eq=False, repr=False)
class Lion(Rule):
    """Arguments, defaults and numerics of `keras.optimizers.Lion`.

    Chen et al. 2023, https://arxiv.org/abs/2302.06675

    The paper advises a learning rate 3 to 10 times smaller than that of Adam, with a decoupled
    weight decay that is as much larger. Slot `momentum`: shape and dtype (at least float32) of the
    leaf.
    """

    rowwise: ClassVar[bool] = True
    elementwise: ClassVar[bool] = True
    keeps_slots_with: ClassVar[Mapping[str, float]] = {"beta_2": 1.0}

    keras: ClassVar[KerasForm] = KerasForm(
        "Lion", slots={"momentum": "_momentums"}, in_tf_keras=False
    )

    learning_rate: NonNegative = 0.001
    beta_1: PositiveFraction = 0.9
    beta_2: PositiveFraction = 0.99

    def init(self, leaf: Any) -> Slots:
        return {"momentum": tf.zeros_like(leaf)}

    def apply(self, slots: Slots, leaf: Any, grad: Any, step: Any) -> tuple[Any, Slots]:
        sign, momentum = lion_step(slots["momentum"], grad, self.beta_1, self.beta_2)
        return tf.cast(self.learning_rate, leaf.dtype) * sign, {"momentum": momentum}

    def fused(self, path: str, target: Any) -> Fused | None:
        return Fused(self, ("momentum",))
