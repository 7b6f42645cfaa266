"""`eval_params`: the values to evaluate and save, where those that train are others."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from tfexplicit.arguments import expect_state, is_state
from tfexplicit.arrays import read
from tfexplicit.composite import Composite, part_of
from tfexplicit.plan import Place
from tfexplicit.precision import widened
from tfexplicit.rebuild import with_leaves
from tfexplicit.rule import Rule, Slots
from tfexplicit.rules.schedule_free_adamw import ScheduleFreeAdamW, averaged
from tfexplicit.state import AnyState, OptState, located
from tfexplicit.tree import Leaf, parse
from tfexplicit.unconverted import unconverted
from tfexplicit.verbs.update import unknown_leaf

LINE = "tx.eval_params(opt_state, model)"


@unconverted
def eval_params(opt_state: AnyState, model: Any) -> Any:
    """The averages that `ScheduleFreeAdamW` keeps; nothing is changed.

    Leaves of other rules keep their value. A Keras model or `tf.Module` becomes a nested dict of
    values by path, containers keep their type, as in what `updated` returns.

    Raises:
        TypeError: the arguments are not a state and a model.
        ValueError: no rule of this model's leaves keeps an average, or the state was set up on
            another model.
    """
    if is_state(model):
        raise TypeError(f"eval_params: the arguments are swapped. Write {LINE}.")
    expect_state("eval_params", opt_state, LINE)
    state, prefix = located(opt_state)
    tree = parse(model)
    places = state.places_of(tree, prefix)
    found = [
        _average(state, prefix, leaf, place)
        for leaf, place in zip(tree.leaves, places, strict=True)
    ]
    if all(value is None for value in found):
        raise ValueError(
            "eval_params: no rule here keeps an average, so the model itself is what to evaluate. "
            "Write opt_state = tx.setup(tx.ScheduleFreeAdamW(), model)."
        )
    values = [
        read(leaf.value) if value is None else value
        for leaf, value in zip(tree.leaves, found, strict=True)
    ]
    return with_leaves(tree, values, model)


def _average(state: OptState, prefix: str, leaf: Leaf, place: Place | None) -> Any:
    if place is None:
        raise unknown_leaf(state, prefix, leaf)
    group, row = state.groups[place.group], place.row
    hyper = group.hyper_by_row(group.followed(read(state.step)))[row]
    kept = _averaging_part(group.rule, hyper, group.slots[row])
    if kept is None:
        return None
    value = read(leaf.value)
    beta_1, fast = kept
    average = averaged(widened(value), read(fast), beta_1)
    # Before the first step there is none yet.
    return tf.where(read(group.taken)[row] > 0, tf.cast(average, value.dtype), value)


def _averaging_part(rule: Rule, hyper: dict[str, Any], slots: Slots) -> tuple[Any, Any] | None:
    """`(beta_1, momentum)` of the part that averages."""
    if isinstance(rule, ScheduleFreeAdamW):
        return hyper["beta_1"], slots["momentum"]
    if isinstance(rule, Composite):
        for name, part in rule.parts.items():
            found = _averaging_part(part, part_of(hyper, name), part_of(slots, name))
            if found is not None:
                return found
    return None
