"""What `setup` accepts as its first argument, as a function from leaf to rule."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import tensorflow as tf

from tfexplicit import paths
from tfexplicit.arrays import read
from tfexplicit.keras_optimizers.adopted import Adopted
from tfexplicit.keras_optimizers.foreign import Foreign, is_foreign_optimizer
from tfexplicit.keras_optimizers.known import Known, rule_of
from tfexplicit.keras_optimizers.recognise import is_keras_optimizer
from tfexplicit.rule import Rule
from tfexplicit.tree import Leaf

Choose = Callable[[Leaf], Rule]


def choice_of(spec: Any) -> tuple[Choose, Known | Adopted | Foreign | None]:
    """How to choose a leaf's rule, and the optimizer that is taken over, if one is given."""
    if isinstance(spec, str) or is_config(spec):
        spec = tf.keras.optimizers.get(spec)
    if is_keras_optimizer(spec):
        rule = rule_of(spec)
        owner = Adopted(spec) if rule is None else Known(spec, rule)
        return (lambda leaf: owner.rule), owner
    if isinstance(spec, Rule):
        return (lambda leaf: spec), None
    if isinstance(spec, Mapping):
        return _by_glob({glob: _plain_rule(rule, glob) for glob, rule in spec.items()}), None
    if is_foreign_optimizer(spec):
        foreign = Foreign(spec)
        return (lambda leaf: foreign.rule), foreign
    if callable(spec) and not isinstance(spec, type):
        return _by_function(spec), None
    raise TypeError(
        "setup: the rule must be a tfexplicit rule such as tx.Adam(1e-3), a Keras optimizer, its "
        "name or config, a mapping {path glob: rule} or a function (path, leaf) -> rule, got "
        f"{type(spec).__name__}. Write opt_state = tx.setup(tx.Adam(), model)."
    )


def is_config(spec: Any) -> bool:
    return isinstance(spec, Mapping) and "class_name" in spec


def _by_glob(rules: Mapping[str, Rule]) -> Choose:
    return lambda leaf: paths.first_match("setup", leaf.path, rules)


def _by_function(function: Callable[[str, Any], Any]) -> Choose:
    # A function that makes a rule per leaf of one Keras optimizer must give one rule, not many.
    seen: dict[int, tuple[Any, Rule]] = {}

    def choose(leaf: Leaf) -> Rule:
        chosen = function(leaf.path, leaf.value)
        if id(chosen) not in seen:
            seen[id(chosen)] = (chosen, _plain_rule(chosen, leaf.path))
        return seen[id(chosen)][1]

    return choose


def _plain_rule(spec: Any, where: str) -> Rule:
    """A rule for a part of the model: the slots are made anew, so none can be taken over."""
    if isinstance(spec, Rule):
        return spec
    if isinstance(spec, str) or is_config(spec):
        spec = tf.keras.optimizers.get(spec)
    if not is_keras_optimizer(spec):
        raise TypeError(
            f"setup: the rule for {where!r} must be a tfexplicit rule such as tx.Adam(1e-3) or a "
            f"Keras optimizer, got {spec!r}."
        )
    rule = rule_of(spec)
    if rule is None:
        raise TypeError(
            f"setup: the Keras {type(spec).__name__} for {where!r} has an update of its own, which "
            "can only be adopted for a whole state. Make one state for it and one for the rest."
        )
    used = int(read(spec.iterations))
    if used > 0:
        raise ValueError(
            f"setup: the Keras {type(spec).__name__} for {where!r} has been used for "
            f"{used} steps, and its state cannot be taken over in a mapping. Make "
            "one state for it and one for the rest."
        )
    return rule
