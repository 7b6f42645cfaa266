"""One step of the optimiser over some leaves: the same ops in place and pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import tensorflow as tf

from tfexplicit.arrays import is_variable, read
from tfexplicit.gradients import dense
from tfexplicit.group import Group
from tfexplicit.keras_optimizers.adopted import step_by_own_update
from tfexplicit.rule import LeafStep, Rule, Slots
from tfexplicit.state import OptState, Place
from tfexplicit.writing import Writer


@dataclass(frozen=True)
class Move:
    """A leaf that has a gradient, and its place in the state."""

    place: Place
    value: Any
    grad: Any


# For each group, what its schedules and functions of the step give now.
Followed = dict[int, dict[str, Any]]


def followed_values(state: OptState, moves: Sequence[Move]) -> Followed:
    step = read(state.step)
    return {
        number: state._groups[number].followed(step)
        for number in sorted({move.place.group for move in moves})
    }


def take_step(
    state: OptState, moves: Sequence[Move], followed: Followed, writer: Writer
) -> tuple[OptState, list[Any]]:
    """Step every leaf of `moves`; the state and the leaf values afterwards."""
    step = read(state.step)
    values: list[Any] = [None] * len(moves)
    slots: dict[Place, Slots] = {}
    for rule, numbers in _by_rule(state, moves).items():
        own = [moves[number] for number in numbers]
        if state.own_stepper is not None:
            new_values = _step_by_itself(state, own, writer)
        else:
            at = _leaf_steps(state, own, step, followed)
            new_values = _step_leaves(state, rule, own, at, slots, writer)
        for number, value in zip(numbers, new_values, strict=True):
            values[number] = value
    return _after(state, moves, slots, step, writer), values


def _by_rule(state: OptState, moves: Sequence[Move]) -> dict[Rule, list[int]]:
    """Leaves that share a rule are stepped together, so that it sees their whole gradient."""
    by_rule: dict[Rule, list[int]] = {}
    for number, move in enumerate(moves):
        by_rule.setdefault(state._groups[move.place.group].rule, []).append(number)
    return by_rule


def _leaf_steps(
    state: OptState, moves: Sequence[Move], step: Any, followed: Followed
) -> list[LeafStep]:
    hyper: dict[int, list[dict[str, Any]]] = {}
    rested: dict[int, list[Any]] = {}
    for number in {move.place.group for move in moves}:
        group = state._groups[number]
        hyper[number] = group.hyper_by_row(followed[number])
        rested[number] = tf.unstack(read(group.rested), num=len(group.paths))
    return [
        LeafStep(
            read(move.value),
            dense(move.grad),
            step + 1 - rested[move.place.group][move.place.row],
            hyper[move.place.group][move.place.row],
            _read_slots(state, move.place),
        )
        for move in moves
    ]


def _read_slots(state: OptState, place: Place) -> Slots:
    slots = state._groups[place.group].slots[place.row]
    return {name: read(slot) for name, slot in slots.items()}


def _frozen(state: OptState, move: Move) -> Any:
    return read(state._groups[move.place.group].frozen)[move.place.row]


def _step_leaves(
    state: OptState,
    rule: Rule,
    moves: Sequence[Move],
    at: Sequence[LeafStep],
    slots: dict[Place, Slots],
    writer: Writer,
) -> list[Any]:
    frozen_of = [_frozen(state, move) for move in moves]
    seen = rule.seeing(_without_frozen(at, frozen_of)) if rule.sees else rule
    values = []
    for move, leaf, frozen in zip(moves, at, frozen_of, strict=True):
        subtract, new_slots = seen.step(leaf)
        cells = state._groups[move.place.group].slots[move.place.row]
        slots[move.place] = {
            name: writer.put(cells[name], unless_frozen(frozen, new_slots[name], leaf.slots[name]))
            for name in cells
        }
        subtract = tf.cast(
            unless_frozen(frozen, subtract, tf.zeros_like(subtract)), leaf.leaf.dtype
        )
        values.append(writer.move(move.value, subtract, _constrained(move.value, frozen)))
    return values


def _without_frozen(at: Sequence[LeafStep], frozen_of: Sequence[Any]) -> list[LeafStep]:
    """A frozen leaf adds nothing to what a rule sees, as if the model did not train it."""
    return [
        replace(leaf, grad=unless_frozen(frozen, leaf.grad, tf.zeros_like(leaf.grad)))
        for leaf, frozen in zip(at, frozen_of, strict=True)
    ]


def _step_by_itself(state: OptState, moves: Sequence[Move], writer: Writer) -> list[Any]:
    """An adopted optimizer moves everything; what is frozen is then put back."""
    held = []
    for move in moves:
        slots = state._groups[move.place.group].slots[move.place.row]
        frozen = _frozen(state, move)
        held += [(cell, read(cell), frozen) for cell in (move.value, *slots.values())]
    step_by_own_update(
        state.own_stepper, [move.grad for move in moves], [move.value for move in moves]
    )
    for cell, before, frozen in held:
        writer.put(cell, unless_frozen(frozen, read(cell), before))
    return [move.value for move in moves]


def unless_frozen(frozen: Any, new: Any, old: Any) -> Any:
    """Decided when the function runs, so that freezing reaches functions traced earlier."""
    return tf.where(frozen, old, new)


def _constrained(leaf: Any, frozen: Any) -> Callable[[Any], Any] | None:
    """The variable's own `constraint`, which Keras applies after each step."""
    constraint = getattr(leaf, "constraint", None) if is_variable(leaf) else None
    if constraint is None:
        return None
    return lambda value: unless_frozen(frozen, constraint(value), value)


def _after(
    state: OptState, moves: Sequence[Move], slots: dict[Place, Slots], step: Any, writer: Writer
) -> OptState:
    stepped = {move.place for move in moves}
    groups = [
        replace(
            group,
            rested=_rested_after(state, number, group, stepped, writer),
            slots=tuple(
                slots.get(Place(number, row), group.slots[row]) for row in range(len(group.paths))
            ),
        )
        for number, group in enumerate(state._groups)
    ]
    counted = state.own_stepper is not None
    new_step = state.step if counted else writer.put(state.step, step + 1)
    return state if state.is_live and writer.in_place else state.with_groups(new_step, groups)


def _rested_after(
    state: OptState, number: int, group: Group, stepped: set[Place], writer: Writer
) -> Any:
    """Frozen leaves rest; counting per leaf, so do those without a gradient."""
    rests = read(group.frozen)
    if state._plan.per_leaf:
        idle = [Place(number, row) not in stepped for row in range(len(group.paths))]
        rests = rests | tf.constant(idle)
    return writer.put(group.rested, read(group.rested) + tf.cast(rests, tf.int64))
