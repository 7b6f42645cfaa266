"""`ema_params`: the averages that `EMA`, `MovingAverage` or `SWA` keeps."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from tfexplicit.arguments import expect_state_and_model
from tfexplicit.arrays import read
from tfexplicit.composite import means
from tfexplicit.rebuild import with_leaves
from tfexplicit.rule import Slots
from tfexplicit.state import AnyState, located
from tfexplicit.tree import parse
from tfexplicit.unconverted import unconverted


@unconverted
def ema_params(opt_state: AnyState, model: Any) -> Any:
    """The model's values, averaged: tensors with the shapes and dtypes of the leaves.

    A Keras model or `tf.Module` becomes a nested dict of values by path; containers keep their
    type. A leaf whose average has not started, or of which none is kept, gives its own value. No
    variable is changed.

    Raises:
        TypeError: not a state, or the arguments are swapped.
        ValueError: no rule of the state keeps averages, or several of one leaf.
    """
    expect_state_and_model("ema_params", opt_state, model, "tx.ema_params(opt_state, model)")
    state, prefix = located(opt_state)
    tree = parse(model)
    places = state.places_of(tree, prefix)
    averages = [None if place is None else _average(state.slots_at(place)) for place in places]
    if all(average is None for average in averages):
        raise ValueError(
            "ema_params: no rule of this state keeps averages. Write "
            "tx.setup(tx.Chain(tx.Adam(), tx.EMA()), model)."
        )
    values = [
        read(leaf.value) if average is None else _started(average, read(leaf.value))
        for leaf, average in zip(tree.leaves, averages, strict=True)
    ]
    return with_leaves(tree, values, model)


def _average(slots: Slots) -> Any:
    found = [name for name in slots if means(name, "average")]
    if len(found) > 1:
        raise ValueError(
            f"ema_params: there are several averages of a leaf, {', '.join(found)}. Read the one "
            f"that you mean as opt_state[path].slots[{found[0]!r}]."
        )
    return read(slots[found[0]]) if found else None


def _started(average: Any, value: Any) -> Any:
    """An average is all zeros until its first step, and else only where the leaf is too."""
    has_started = tf.reduce_any(average != 0)
    return tf.where(has_started, tf.cast(average, value.dtype), value)
