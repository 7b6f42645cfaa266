"""A Keras optimizer that no rule computes, or a user's own subclass: stepped by its own update."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from tfexplicit.keras_optimizers.building import build, count_of
from tfexplicit.keras_optimizers.learning_rate import LearningRateOf
from tfexplicit.keras_optimizers.recognise import is_keras_optimizer
from tfexplicit.rule import Rule, Slots
from tfexplicit.tree import Leaf


class AdoptedRule(Rule):
    """Stands for the optimizer where a rule is expected; its update is not a formula of ours."""

    optimizer: Any

    def __init__(self, optimizer: Any) -> None:
        object.__setattr__(self, "optimizer", optimizer)

    def __repr__(self) -> str:
        maker = "Keras " if is_keras_optimizer(self.optimizer) else ""
        return f"{maker}{type(self.optimizer).__name__}"


def step_by_own_update(optimizer: Any, grads: Sequence[Any], variables: Sequence[Any]) -> None:
    """Through `apply_gradients`, which a user's subclass may override, in every Keras."""
    apply = _converted_apply() if tf.inside_function() else _apply
    apply(optimizer, list(zip(grads, variables, strict=True)))


def _apply(optimizer: Any, grads_and_vars: Any) -> None:
    optimizer.apply_gradients(grads_and_vars)


@functools.cache
def _converted_apply() -> Any:
    """AutoGraph converts an override of the user's, as where a step calls it, and no other."""
    return tf.autograph.to_graph(_apply)


class Adopted:
    """The adopted optimizer as the owner of a state's arrays."""

    counts_itself = True

    def __init__(self, optimizer: Any) -> None:
        self.optimizer = optimizer
        self.rule: Rule = AdoptedRule(optimizer)
        # One that scales the loss has another inside, which does the counting.
        self.step = count_of(getattr(optimizer, "inner_optimizer", optimizer))
        self.learning_rate = LearningRateOf(optimizer)

    def slots_for(self, leaves: Sequence[Leaf]) -> list[Slots | None]:
        return list(build(self.optimizer, leaves))

    def before_step(self, grads: Sequence[Any]) -> None:
        """Nothing: the optimizer's own update does all that is due."""
