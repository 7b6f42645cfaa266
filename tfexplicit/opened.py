"""The leaves of a step with everything that is read for it: arrays, counts, hyperparameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import tensorflow as tf

from tfexplicit.arrays import constraint_of, read, shape_of
from tfexplicit.fused import Fused
from tfexplicit.group import by_row
from tfexplicit.plan import Place
from tfexplicit.precision import widened
from tfexplicit.rule import LeafStep, Slots
from tfexplicit.window import Window, window_on

if TYPE_CHECKING:
    from tfexplicit.state import OptState


@dataclass(frozen=True)
class Move:
    """A leaf that has a gradient, its place in the state, and the op that steps it, if one does."""

    place: Place
    value: Any
    grad: Any
    fused: Fused | None = None
    # True if the op steps it together with the leaves that share the variables of its slots.
    in_stack: bool = False
    # True if XLA compiles the formula for it.
    by_xla: bool = False
    # True if a condition of its own stands around its step: a choice for each array costs passes.
    skipped_if_frozen: bool = False

    @property
    def reads_itself(self) -> bool:
        """True if the op reads the leaf, and nothing else does."""
        return self.fused is not None and self.fused.before is None

    @property
    def may_need_formula(self) -> bool:
        """False if the step is by the op whatever the rules before it make of the gradient."""
        return self.fused is None or not (self.can_rest or self.reads_itself)

    @property
    def can_rest(self) -> bool:
        """True for an op that can let some of its leaves rest."""
        return self.in_stack or (self.fused is not None and self.fused.can_rest)

    @property
    def has_own_way(self) -> bool:
        """False for a leaf by the formula op by op, which chooses between old and new arrays."""
        return self.fused is not None or self.by_xla or self.skipped_if_frozen


# For each group, what its schedules and functions of the step give now.
Followed = dict[int, dict[str, Any]]


@dataclass(frozen=True, eq=False)
class Vectors:
    """What a group holds for each of its leaves, as it counts at this step."""

    hyper: dict[str, Any]
    frozen: Any
    step: Any
    taken: Any

    def by_row(self, rows: int) -> list[Vectors]:
        """The scalars of each leaf."""
        columns = [tf.unstack(each, num=rows) for each in (self.frozen, self.step, self.taken)]
        return [Vectors(*row) for row in zip(by_row(self.hyper, rows), *columns, strict=True)]


@dataclass(frozen=True)
class Opened:
    """A leaf at this step, the window through which it is read and written, and its slots."""

    move: Move
    at: LeafStep
    window: Window
    cells: Slots
    # Of its whole group.
    vectors: Vectors
    # A bool scalar; None where it is known that the leaf is not frozen.
    frozen: Any
    # True if the gradient is zeros where the leaf is frozen.
    cleared: bool = False

    def moving(self, value: Any, cells: Slots) -> Opened:
        """The leaf where it is known not to be frozen, its arrays read there."""
        slots = {name: read(cell) for name, cell in cells.items()}
        at = replace(self.at, leaf=widened(read(value)), slots=slots)
        return replace(self, move=replace(self.move, value=value), at=at, cells=cells, frozen=None)

    @property
    def as_seen(self) -> LeafStep:
        """A frozen leaf adds nothing to what a rule sees, as if the model did not train it."""
        if self.frozen is None or self.cleared:
            return self.at
        nothing = tf.zeros_like(self.at.grad)
        return replace(self.at, grad=tf.where(self.frozen, nothing, self.at.grad))

    def stays_after(self, at: LeafStep) -> Any:
        """True if the leaf is frozen, or rests after the rules that have made `at` of the step;
        None if neither can be."""
        if self.frozen is None:
            return None if at.active is None else ~at.active
        return self.frozen if at.active is None else self.frozen | ~at.active


def opened(state: OptState, moves: Sequence[Move], step: Any, followed: Followed) -> list[Opened]:
    """What a fused op reads by itself is not read here."""
    vectors = {
        number: _vectors(state, number, followed[number], step)
        for number in {move.place.group for move in moves}
    }
    rows = {
        number: each.by_row(len(state.groups[number].paths)) for number, each in vectors.items()
    }
    return [
        _opened(state, move, vectors[move.place.group], rows[move.place.group][move.place.row])
        for move in moves
    ]


def _vectors(state: OptState, number: int, followed: dict[str, Any], step: Any) -> Vectors:
    group = state.groups[number]
    taken = read(group.taken)
    own_step = taken + 1 if state.plan.per_leaf else step + 1 - read(group.rested)
    return Vectors(group.resolved_hyper(followed), read(group.frozen), own_step, taken)


def _opened(state: OptState, move: Move, vectors: Vectors, row: Vectors) -> Opened:
    group = state.groups[move.place.group]
    cells = state.slots_at(move.place)
    window, grad = _window(state, move)
    unread = set() if move.fused is None or move.may_need_formula else move.fused.slots
    at = LeafStep(
        leaf=None if move.reads_itself else widened(window.read(move.value)),
        grad=widened(grad),
        step=row.step,
        taken=row.taken,
        hyper=row.hyper,
        slots={name: window.read(slot) for name, slot in cells.items() if name not in unread},
        path=group.paths[move.place.row],
        target=group.targets[move.place.row],
        distinct=window.distinct,
    )
    return Opened(move, at, window, cells, vectors, row.frozen)


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
