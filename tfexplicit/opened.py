"""The leaves of a step with everything that is read for it: arrays, counts, hyperparameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import tensorflow as tf

from tfexplicit.arrays import is_variable, read, shape_of
from tfexplicit.plan import Place
from tfexplicit.precision import widened
from tfexplicit.rule import LeafStep
from tfexplicit.state import OptState
from tfexplicit.window import Window, window_on


@dataclass(frozen=True)
class Move:
    """A leaf that has a gradient, and its place in the state."""

    place: Place
    value: Any
    grad: Any


# For each group, what its schedules and functions of the step give now.
Followed = dict[int, dict[str, Any]]


@dataclass(frozen=True)
class Opened:
    """A leaf at this step, the window through which it is read and written, and `frozen`."""

    move: Move
    at: LeafStep
    window: Window
    frozen: Any

    @property
    def as_seen(self) -> LeafStep:
        """A frozen leaf adds nothing to what a rule sees, as if the model did not train it."""
        nothing = tf.zeros_like(self.at.grad)
        return replace(self.at, grad=tf.where(self.frozen, nothing, self.at.grad))


@dataclass(frozen=True)
class _Row:
    """What the vectors of a group hold for one leaf."""

    hyper: dict[str, Any]
    frozen: Any
    rested: Any
    taken: Any


def opened(state: OptState, moves: Sequence[Move], step: Any, followed: Followed) -> list[Opened]:
    rows = {
        number: _rows_of(state, number, followed[number])
        for number in {move.place.group for move in moves}
    }
    return [_opened(state, move, rows[move.place.group][move.place.row], step) for move in moves]


def _rows_of(state: OptState, number: int, followed: dict[str, Any]) -> list[_Row]:
    group = state.groups[number]
    vectors = (group.frozen, group.rested, group.taken)
    columns = [tf.unstack(read(vector), num=len(group.paths)) for vector in vectors]
    return [_Row(*row) for row in zip(group.hyper_by_row(followed), *columns, strict=True)]


def _opened(state: OptState, move: Move, row: _Row, step: Any) -> Opened:
    group = state.groups[move.place.group]
    window, grad = _window(state, move)
    at = LeafStep(
        leaf=widened(window.read(move.value)),
        grad=widened(grad),
        step=row.taken + 1 if state.plan.per_leaf else step + 1 - row.rested,
        taken=row.taken,
        hyper=row.hyper,
        slots={name: window.read(slot) for name, slot in state.slots_at(move.place).items()},
        path=group.paths[move.place.row],
        target=group.targets[move.place.row],
        distinct=window.distinct,
    )
    return Opened(move, at, window, row.frozen)


def _window(state: OptState, move: Move) -> tuple[Window, Any]:
    """The window, and the gradient as it is seen through it."""
    shape = shape_of(move.value)
    # A constraint may look at the whole array, so the whole is stepped then.
    if (
        state.plan.lazy
        and isinstance(move.grad, tf.IndexedSlices)
        and not constraint_of(move.value)
    ):
        return window_on(move.grad, shape)
    # Of a sparse gradient, rows of one id are added up, which rules that are not linear depend on.
    grad = tf.convert_to_tensor(move.grad)
    # TensorFlow does not know its shape then, but rules may ask.
    grad.set_shape(shape)
    return Window(shape), grad


def constraint_of(leaf: Any) -> Any:
    """The variable's own `constraint`, which Keras applies after each step."""
    return getattr(leaf, "constraint", None) if is_variable(leaf) else None
