"""An optimizer that is not of Keras and steps variables by an `apply_gradients` of its own.

Those of `tf.compat.v1.train` are, and wrappers of a program. What such an object keeps is its own
affair: the state counts its steps and has no slots.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfexplicit.creation import in_variables
from tfexplicit.keras_optimizers.adopted import AdoptedRule
from tfexplicit.keras_optimizers.building import refuse_arrays
from tfexplicit.keras_optimizers.learning_rate import LearningRateOf
from tfexplicit.rule import Rule, Slots
from tfexplicit.tree import Leaf


def is_foreign_optimizer(value: object) -> bool:
    return callable(getattr(value, "apply_gradients", None)) and not isinstance(value, type)


class Foreign:
    """The object as the owner of a state: as an adopted Keras optimizer, without arrays."""

    counts_itself = True
    learning_rate: LearningRateOf | None = None

    def __init__(self, optimizer: Any) -> None:
        self.optimizer = optimizer
        self.rule: Rule = AdoptedRule(optimizer)
        self.step = in_variables(np.int64(0), "step", [])

    def slots_for(self, leaves: Sequence[Leaf]) -> list[Slots | None]:
        refuse_arrays(leaves)
        return [{} for _ in leaves]

    def before_step(self, grads: Sequence[Any]) -> None:
        self.step.assign_add(1)
