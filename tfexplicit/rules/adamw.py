"""Adam with decoupled weight decay."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import tensorflow as tf

from tfexplicit.fused import Fused
from tfexplicit.hyperparameters import Fraction, NonNegative
from tfexplicit.keras_optimizers.form import KerasForm
from tfexplicit.moments import adam_slots
from tfexplicit.rule import Rule, Slots
from tfexplicit.rules.adam import ADAM, SLOTS, Adam, adam_step


def decay_step(leaf: Any, learning_rate: Any, weight_decay: Any) -> Any:
    """What decoupled weight decay subtracts: Loshchilov and Hutter 2019,
    https://arxiv.org/abs/1711.05101"""
    return leaf * tf.cast(weight_decay, leaf.dtype) * tf.cast(learning_rate, leaf.dtype)


def _lost(hyper: dict[str, Any]) -> Any:
    return hyper["weight_decay"] * hyper["learning_rate"]


@dataclass(frozen=True, eq=False, repr=False)
class AdamW(Rule):
    """Arguments, defaults and numerics of `keras.optimizers.AdamW`.

    Loshchilov and Hutter 2019, https://arxiv.org/abs/1711.05101. The leaf decays by `weight_decay *
    learning_rate`. Leaves that shall not decay: `Chain(Adam(), DecoupledWeightDecay(where=...))`.

    Slots `momentum`, `velocity`, with `amsgrad` also `velocity_hat`: shape and dtype (at least
    float32) of the leaf.
    """

    rowwise: ClassVar[bool] = True
    elementwise: ClassVar[bool] = True
    keeps_slots_with: ClassVar[Mapping[str, float]] = {"beta_1": 1.0, "beta_2": 1.0}

    keras: ClassVar[KerasForm] = replace(Adam.keras, class_name="AdamW", with_weight_decay="AdamW")

    learning_rate: NonNegative = 0.001
    weight_decay: NonNegative = 0.004
    beta_1: Fraction = 0.9
    beta_2: Fraction = 0.999
    epsilon: NonNegative = 1e-7
    amsgrad: bool = False

    def init(self, leaf: Any) -> Slots:
        return adam_slots(leaf, self.amsgrad)

    def apply(self, slots: Slots, leaf: Any, grad: Any, step: Any) -> tuple[Any, Slots]:
        subtract, slots = adam_step(
            slots, grad, step, self.learning_rate, self.beta_1, self.beta_2, self.epsilon
        )
        # Keras decays the leaf and then moves it. Going through the moved leaf rounds in the same
        # places, where `decay + subtract` would differ in the last bit.
        moved = (leaf - decay_step(leaf, self.learning_rate, self.weight_decay)) - subtract
        return leaf - moved, slots

    def fused(self, path: str, target: Any) -> Fused | None:
        return None if self.amsgrad else Fused(Adam(), SLOTS, ADAM, decay=_lost)

    @classmethod
    def variants(cls) -> list[Rule]:
        return [cls(), cls(amsgrad=True)]
