"""Which way a leaf is stepped: by the fused op of its rule, or by the rule's formula."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import tensorflow as tf
from tensorflow.python.ops import control_flow_util

from tfexplicit.arrays import (
    constraint_of,
    dtype_name,
    is_variable,
    raw,
    shape_of,
    size_in_bytes,
)
from tfexplicit.creation import strategy_of
from tfexplicit.fused import Fused
from tfexplicit.writing import Writer

if TYPE_CHECKING:
    from tfexplicit.group import Group
    from tfexplicit.opened import Move
    from tfexplicit.state import OptState

# `formula` steps every leaf by its rule's formula, rounded as Keras rounds it.
SETTING = "TFEXPLICIT_STEP"

# The ops take other dtypes too, and give wrong numbers in some of them.
_DTYPES = ("float32", "float64")


def formula_is_forced() -> bool:
    """True if the environment says so; read whenever a step is traced.

    Raises:
        ValueError: the variable has an unknown value.
    """
    value = os.environ.get(SETTING, "")
    if value not in ("", "formula"):
        raise ValueError(f'{SETTING} must be "formula" or unset, got {value!r}.')
    return value == "formula"


def under_xla() -> bool:
    """True while a function is traced for XLA, which fuses the formula itself."""
    graph = tf.compat.v1.get_default_graph()
    return bool(control_flow_util.GraphOrParentsInXlaContext(graph))


# From so many bytes of leaves on, passes over memory show in the time of a step. Below it goes by
# the formula, whose numbers are those of Keras.
FROM_BYTES = 2**18


def are_large(values: Sequence[Any]) -> bool:
    """True for leaves of one rule that are enough for a way other than the formula."""
    return sum(map(size_in_bytes, values)) >= FROM_BYTES


def are_worth_two_traces(values: Sequence[Any]) -> bool:
    """True for leaves so large that two traces of their step pay, with and without frozen leaves.

    An op that can rest does without. Many small leaves cost more to trace than they save.
    """
    return sum(map(size_in_bytes, values)) >= FROM_BYTES * len(values)


def may_branch(state: OptState, values: Sequence[Any], writer: Writer) -> bool:
    """True if it pays that a step depends on a condition, and it can: it is assignments alone."""
    return (
        type(writer) is Writer
        and writer.in_place
        and state.is_live
        and are_large(values)
        and not under_xla()
        and all(is_variable(value) and strategy_of(value) is None for value in values)
    )


def fused_way(state: OptState, move: Move) -> Fused | None:
    """The fused op for a leaf in a step that may branch; None if it has to go by the formula."""
    if state.plan.lazy and isinstance(move.grad, tf.IndexedSlices):
        return None
    return fused_leaf(state.groups[move.place.group], move.place.row, move.value)


def fused_leaf(group: Group, row: int, value: Any) -> Fused | None:
    """The op for a dense gradient.

    Ops of which variable and slot differ in dtype end the process, so all is compared here.
    """
    if formula_is_forced():
        return None
    fused = group.rule.fused(group.paths[row], value)
    if fused is None or constraint_of(value) is not None:
        return None
    slots = group.slots[row]
    return fused if _are_alike([value, *(slots[name] for name in fused.slots)]) else None


def _are_alike(arrays: Sequence[Any]) -> bool:
    dtype, shape = dtype_name(arrays[0]), shape_of(arrays[0])
    return dtype in _DTYPES and all(
        is_variable(array)
        and hasattr(raw(array), "handle")
        and dtype_name(array) == dtype
        and shape_of(array) == shape
        for array in arrays
    )
