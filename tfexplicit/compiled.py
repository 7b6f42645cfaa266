"""Eager calls of a step, compiled once per pattern of leaves and gradients."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import tensorflow as tf

from tfexplicit.arrays import is_variable, raw, read
from tfexplicit.opened import Followed, Move
from tfexplicit.replicas import ReplicaWriter, in_replicas, summed
from tfexplicit.state import OptState
from tfexplicit.step import followed_values, take_step
from tfexplicit.ways import formula_is_forced
from tfexplicit.writing import Writer


def run_step(state: OptState, moves: Sequence[Move], writer: Writer) -> tuple[OptState, list[Any]]:
    """`take_step`, at graph speed when called eagerly.

    Schedules and functions of the step are called eagerly then: they may read anything. So are
    adopted optimizers, whose update may do anything.
    """
    followed = followed_values(state, moves)
    state.plan.traced |= not tf.executing_eagerly()
    if in_replicas():
        return _run_in_replicas(state, moves, followed, writer)
    if not tf.executing_eagerly() or state.own_stepper is not None:
        return take_step(state, moves, followed, writer)
    key = _pattern(state, moves, writer)
    compiled = state.plan.compiled.get(key)
    if compiled is None:
        compiled = state.plan.compiled[key] = _compile(state, moves, writer)
    replaced = [read(move.value) for move in moves if not is_variable(move.value)]
    cells = [] if state.is_live else state.cells()
    new_cells, new_values = compiled(cells, replaced, [move.grad for move in moves], followed)
    after = state.with_cells(new_cells) if new_cells else state
    return after, _in_place_of(moves, new_values, writer)


def _run_in_replicas(
    state: OptState, moves: Sequence[Move], followed: Followed, writer: Writer
) -> tuple[OptState, list[Any]]:
    """Not compiled here: replicas cannot meet inside a function that is being defined."""
    if state.own_stepper is None:
        grads = summed([move.grad for move in moves])
        moves = [replace(move, grad=grad) for move, grad in zip(moves, grads, strict=True)]
    held = ReplicaWriter(writer.in_place)
    result = take_step(state, moves, followed, held)
    held.flush()
    return result


def _pattern(state: OptState, moves: Sequence[Move], writer: Writer) -> tuple[Any, ...]:
    """What the compiled function takes for granted."""
    return (
        writer,
        id(state) if state.is_live else None,
        len(state.groups),
        formula_is_forced(),
        tuple(
            (move.place, id(raw(move.value)) if is_variable(move.value) else None) for move in moves
        ),
    )


def _compile(state: OptState, moves: Sequence[Move], writer: Writer) -> Any:
    """Variables are captured; gradients, replaced leaves and a state of tensors are arguments.

    Gradients are read from the arguments, so the moves kept here must not hold on to any.
    """
    frame = [
        replace(move, grad=None, value=move.value if is_variable(move.value) else None)
        for move in moves
    ]

    def step(
        cells: list[Any], replaced: list[Any], grads: list[Any], followed: Followed
    ) -> tuple[Any, Any]:
        before = state if state.is_live else state.with_cells(cells)
        supply = iter(replaced)
        filled = [
            replace(move, grad=grad, value=next(supply) if move.value is None else move.value)
            for move, grad in zip(frame, grads, strict=True)
        ]
        after, values = take_step(before, filled, followed, writer)
        new_cells = [] if after is state else [read(cell) for cell in after.cells()]
        return new_cells, [value for value in values if not is_variable(value)]

    # The rows of a sparse gradient vary with the batch: one trace is to serve them all.
    compiled = tf.function(step, autograph=False, reduce_retracing=True)
    # TensorFlow would take the functions of several states for one that is traced too often.
    compiled._omit_frequent_tracing_warning = True
    return compiled


def _in_place_of(moves: Sequence[Move], new: Sequence[Any], writer: Writer) -> list[Any]:
    """The leaf itself where it was assigned, else the tensor that replaces it."""
    supply = iter(new)
    return [
        move.value if writer.in_place and is_variable(move.value) else next(supply)
        for move in moves
    ]
