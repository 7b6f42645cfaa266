"""Which way a leaf is stepped: by the fused op of its rule, or by the rule's formula, which XLA
compiles for it or which goes op by op."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import tensorflow as tf
from tensorflow.python.framework import op_callbacks
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
from tfexplicit.slot_row import SlotRow
from tfexplicit.writing import Writer

if TYPE_CHECKING:
    from tfexplicit.opened import Move
    from tfexplicit.rule import Rule
    from tfexplicit.state import OptState

# `formula` steps every leaf by its rule's formula, rounded as Keras rounds it.
SETTING = "TFEXPLICIT_STEP"

# The ops take other dtypes too, and give wrong numbers in some of them.
DTYPES = ("float32", "float64")


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

# Leaves up to SMALL_BYTES share the variables of their slots, if there are FEWEST_ROWS alike: then
# the calls of ops cost more than the passes over memory. A shared variable has up to STACK_BYTES,
# so that what is computed of it stays in the processor's cache, and takes little memory.
SMALL_BYTES = 2**15
FEWEST_ROWS = 8
STACK_BYTES = 2**20

# So many stacks are in memory at a time: one that is stepped, one whose gradients are collected.
STACKS_AT_A_TIME = 2


def ways_of(state: OptState, moves: Sequence[Move], writer: Writer) -> list[Move]:
    """The leaves that share a rule, each with the way that it takes."""
    if not _is_assignments(state, moves, writer):
        return list(moves)
    chosen = [_with_its_way(state, move) for move in moves]
    if under_xla():
        # It fuses the formula itself; but the fewer leaves it gets, the sooner it has compiled.
        pairs = zip(moves, chosen, strict=True)
        return [way if way.in_stack else move for move, way in pairs]
    return chosen


def _bytes_of(moves: Sequence[Move]) -> int:
    return sum(size_in_bytes(move.value) for move in moves)


def _is_assignments(state: OptState, moves: Sequence[Move], writer: Writer) -> bool:
    """True for a step of variables alone, large enough that it matters how it is made.

    Not in a graph of TensorFlow 1, where no order holds between a condition and what is around it.
    """
    return (
        (tf.executing_eagerly() or tf.inside_function())
        and type(writer) is Writer
        and writer.in_place
        and state.is_live
        and _bytes_of(moves) >= FROM_BYTES
        and all(is_variable(move.value) and strategy_of(move.value) is None for move in moves)
    )


def _with_its_way(state: OptState, move: Move) -> Move:
    """The leaf with the way that it takes; as it is where the formula chooses for each array.

    Ops of which variable and slot differ in dtype end the process, so all is compared here.
    """
    is_of_rows = state.plan.lazy and isinstance(move.grad, tf.IndexedSlices)
    if is_of_rows or formula_is_forced() or constraint_of(move.value) is not None:
        return move
    group = state.groups[move.place.group]
    fused = group.rule.fused(group.paths[move.place.row], move.value)
    slots = [state.slots_at(move.place)[name] for name in fused.slots] if fused else []
    if slots and all(isinstance(slot, SlotRow) for slot in slots):
        return replace(move, fused=fused, in_stack=True)
    if fused is None or fused.kernel is None or not _are_alike([move.value, *slots]):
        fused = None
    arrays = [move.value, *state.slots_at(move.place).values()]
    is_large = size_in_bytes(move.value) > SMALL_BYTES and all(map(is_variable, arrays))
    is_op_alone = fused is not None and fused.decay is None
    if is_large and not is_op_alone and _xla_makes_fewer_passes(group.rule, arrays):
        return replace(move, by_xla=True)
    with_op = replace(move, fused=fused)
    if with_op.can_rest:
        return with_op
    return replace(with_op, skipped_if_frozen=True) if is_large else move


def _xla_makes_fewer_passes(rule: Rule, arrays: Sequence[Any]) -> bool:
    """Than the formula op by op, or than a fused op with ops for the decay before it.

    For other devices its compiler may lack parts that the user has to install.
    """
    return (
        rule.elementwise
        and not _each_op_is_watched()
        and tf.test.is_built_with_xla()
        and len({raw(array).device for array in arrays}) == 1
        and tf.DeviceSpec.from_string(raw(arrays[0]).device).device_type == "CPU"
    )


def _each_op_is_watched() -> bool:
    """True under `tf.config.run_functions_eagerly`, where nothing stays compiled for the next step,
    and `tf.debugging.enable_check_numerics`, whose ops XLA does not have."""
    return tf.config.functions_run_eagerly() or bool(op_callbacks.should_invoke_op_callbacks())


def _are_alike(arrays: Sequence[Any]) -> bool:
    dtype, shape = dtype_name(arrays[0]), shape_of(arrays[0])
    return dtype in DTYPES and all(
        is_variable(array)
        and hasattr(raw(array), "handle")
        and dtype_name(array) == dtype
        and shape_of(array) == shape
        for array in arrays
    )
