"""Keras classes that a rule computes: the same hyperparameters, and their variables as slots."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from functools import cache
from typing import Any

import tensorflow as tf

from tfexplicit.arrays import dtype_name, is_overwritten
from tfexplicit.chain import Chain
from tfexplicit.creation import value_at_start
from tfexplicit.hyperparameters import declared, is_number
from tfexplicit.keras_optimizers.building import build, index_of
from tfexplicit.keras_optimizers.form import KerasForm
from tfexplicit.keras_optimizers.learning_rate import LearningRateOf
from tfexplicit.keras_optimizers.recognise import is_keras_3, is_keras_own_class, is_legacy
from tfexplicit.replicas import in_replicas
from tfexplicit.rule import Rule, Slots
from tfexplicit.rules import all_rules
from tfexplicit.rules.clip_by_global_norm import ClipByGlobalNorm
from tfexplicit.rules.clip_by_norm import ClipByNorm
from tfexplicit.rules.clip_by_value import ClipByValue
from tfexplicit.tree import Leaf

# Base arguments that change the update in ways the rule does not have.
_BEYOND = ("use_ema", "loss_scale_factor", "gradient_accumulation_steps", "_mesh")
_EXCLUSIONS = (
    "_exclude_from_weight_decay",
    "_exclude_from_weight_decay_names",
    "_exclude_from_weight_decay_pattern",
)


def rule_of(optimizer: Any) -> Rule | None:
    """The rule that trains exactly as this optimizer; None if there is none."""
    if not is_keras_own_class(optimizer) or is_legacy(optimizer):
        return None
    found = _form_of(optimizer)
    if found is None or any(getattr(optimizer, name, None) for name in _BEYOND):
        return None
    rule_class, form = found
    if any(getattr(optimizer, name, value) != value for name, value in form.requires.items()):
        return None
    if not (form.in_tf_keras or is_keras_3(optimizer)):
        return None
    arguments = {
        field.name: getattr(optimizer, field.name)
        for field in fields(rule_class)
        if field.init and field.name != "learning_rate"
    }
    numeric = declared(rule_class).keys() & arguments.keys()
    if not all(is_number(arguments[name]) for name in numeric):
        return None
    rule: Rule = rule_class(learning_rate=LearningRateOf(optimizer), **arguments)
    clips = clips_of(optimizer)
    return Chain(*clips, rule) if clips else rule


def excludes_from_decay(optimizer: Any) -> bool:
    """True if some leaf is not to decay, by `exclude_from_weight_decay`."""
    return any(getattr(optimizer, exclusion, None) for exclusion in _EXCLUSIONS)


@cache
def forms() -> dict[str, tuple[Any, KerasForm]]:
    """By the name of the Keras class: the rule that computes it, and how."""
    forms = ((rule, getattr(rule, "keras", None)) for rule in all_rules.values())
    return {form.class_name: (rule, form) for rule, form in forms if form is not None}


def _form_of(optimizer: Any) -> tuple[Any, KerasForm] | None:
    name = type(optimizer).__name__
    found = forms().get(name)
    if found is None or not optimizer.weight_decay:
        return found
    if excludes_from_decay(optimizer):
        return None
    return forms().get(found[1].with_weight_decay)


def _is_beyond_the_rule(value: Any) -> bool:
    return dtype_name(value) != "float32" or is_overwritten(value)


def clips_of(optimizer: Any) -> list[Rule]:
    """Keras looks at these in this order and uses the first; 0 is no clipping."""
    clips = {"clipnorm": ClipByNorm, "global_clipnorm": ClipByGlobalNorm, "clipvalue": ClipByValue}
    for attribute, clip in clips.items():
        limit = getattr(optimizer, attribute, None)
        if limit and limit > 0:
            return [clip(limit)]
    return []


class Known:
    """A Keras optimizer whose variables serve as the slots of the rule that computes the same.

    It is not the same for sparse gradients, whose repeated ids Keras 3 does not add up, nor for
    clipping under several replicas, which Keras does before it sums over them, nor for leaves that
    are not float32: Keras rounds hyperparameters to float32 for float64 leaves, computes half
    leaves in their own dtype, and squares complex ones. Nor is it for leaves that their gradient
    overwrites, nor for those that `exclude_from_weight_decay` excludes after `setup`. So that
    training stays as it was, the first of these makes the optimizer step by its own update from
    then on.
    """

    def __init__(self, optimizer: Any, rule: Rule) -> None:
        self.counts_itself = False
        self.optimizer = optimizer
        self.rule = rule
        self.step = optimizer.iterations
        self.learning_rate = LearningRateOf(optimizer)
        found = _form_of(optimizer)
        assert found is not None
        self._form = found[1]
        self._has_leaves = False

    def slots_for(self, leaves: Sequence[Leaf]) -> list[Slots | None]:
        """None for a leaf that came after the optimizer was built, which it cannot learn."""
        if not self._has_leaves:
            build(self.optimizer, leaves)
            self._has_leaves = True
        if any(_is_beyond_the_rule(leaf.value) for leaf in leaves):
            self.counts_itself = True
        return [self._slots_of(leaf) for leaf in leaves]

    def _slots_of(self, leaf: Leaf) -> Slots | None:
        index = index_of(self.optimizer, leaf.value)
        if index is None:
            return None
        if is_overwritten(leaf.value):
            return {}
        return {
            name: getattr(self.optimizer, self._form.slots[name.rsplit("/", 1)[-1]])[index]
            for name in self.rule.begin(leaf.path, value_at_start(leaf.value), leaf.value)
        }

    def before_step(self, grads: Sequence[Any]) -> None:
        """tf_keras keeps what a schedule gave in a variable, which programs log."""
        is_sparse = any(isinstance(grad, tf.IndexedSlices) for grad in grads)
        is_excluded_late = bool(self.optimizer.weight_decay) and excludes_from_decay(self.optimizer)
        if is_sparse or is_excluded_late or (isinstance(self.rule, Chain) and in_replicas()):
            self.counts_itself = True
        elif self.learning_rate.is_schedule and hasattr(
            self.optimizer, "_compute_current_learning_rate"
        ):
            self.optimizer._compute_current_learning_rate()
