"""`reset`: a state, or a part of it, as `setup` made it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from tfexplicit import paths
from tfexplicit.arguments import expect_state
from tfexplicit.arrays import raw, read
from tfexplicit.creation import value_at_start
from tfexplicit.group import Group
from tfexplicit.state import AnyState, OptState, located
from tfexplicit.unconverted import unconverted


@unconverted
def reset(opt_state: AnyState) -> None:
    """Slots as `setup` made them, and the count of steps from the start again.

    Of the whole state `step` becomes 0; of a part, the count of its leaves begins anew. What
    `adjust` and `freeze` have set stays. Effective in functions traced earlier.

    Raises:
        TypeError: not a state; one that holds tensors; or one of a Keras optimizer that is stepped
            by its own update.
    """
    expect_state("reset", opt_state, 'tx.reset(opt_state) or tx.reset(opt_state["encoder"])')
    state, prefix = located(opt_state)
    if not state.is_live:
        raise TypeError("reset: this state holds tensors; make a new one with tx.setup.")
    if state.own_stepper is not None:
        raise TypeError(
            f"reset: the Keras {type(state.own_stepper).__name__} keeps its arrays itself. Make a "
            "new optimizer and write opt_state = tx.setup(optimizer, model)."
        )
    chosen = {path for path in state.paths if paths.is_under(path, prefix)}
    if len(chosen) == len(state.paths):
        raw(state.step).assign(0)
    for group in state.groups:
        rows = [row for row, path in enumerate(group.paths) if path in chosen]
        _reset_rows(state, group, rows)


def _reset_rows(state: OptState, group: Group, rows: Sequence[int]) -> None:
    for row in rows:
        target = group.targets[row]
        fresh = group.rule.begin(group.paths[row], value_at_start(target), target)
        for name, slot in group.slots[row].items():
            raw(slot).assign(fresh[name])
    if len(rows) == len(group.paths):
        for name, value in group.rule.shared().items():
            if name in group.shared:
                raw(group.shared[name]).assign(value)
    anew = tf.constant([row in rows for row in range(len(group.paths))])
    _set_where(anew, group.rested, read(state.step))
    _set_where(anew, group.taken, tf.constant(0, tf.int64))


def _set_where(rows: Any, vector: Any, value: Any) -> None:
    raw(vector).assign(tf.where(rows, value, read(vector)))
