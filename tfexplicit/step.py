"""One step of the optimiser over some leaves: the same ops in place and pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import tensorflow as tf

from tfexplicit.arrays import is_variable, read
from tfexplicit.gradients import dense
from tfexplicit.group import Group
from tfexplicit.keras_optimizers.adopted import step_by_own_update
from tfexplicit.plan import Place
from tfexplicit.rule import LeafStep, Rule, Slots
from tfexplicit.state import OptState
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
        number: state.groups[number].followed(step)
        for number in sorted({move.place.group for move in moves})
    }


@dataclass
class _Outcome:
    """What a step has put, or would put, into the state."""

    slots: dict[Place, Slots] = field(default_factory=dict)
    shared: dict[int, Slots] = field(default_factory=dict)


def take_step(
    state: OptState, moves: Sequence[Move], followed: Followed, writer: Writer
) -> tuple[OptState, list[Any]]:
    """Step every leaf of `moves`; the state and the leaf values afterwards."""
    step = read(state.step)
    values: list[Any] = [None] * len(moves)
    outcome = _Outcome()
    for rule, numbers in _by_rule(state, moves).items():
        own = [moves[number] for number in numbers]
        if state.own_stepper is not None:
            new_values = _step_by_itself(state, own, writer)
        else:
            at = _leaf_steps(state, own, step, followed)
            new_values = _step_leaves(state, rule, own, at, outcome, writer)
        for number, value in zip(numbers, new_values, strict=True):
            values[number] = value
    return _after(state, moves, outcome, step, writer), values


def _by_rule(state: OptState, moves: Sequence[Move]) -> dict[Rule, list[int]]:
    """Leaves that share a rule are stepped together, so that it sees their whole gradient."""
    by_rule: dict[Rule, list[int]] = {}
    for number, move in enumerate(moves):
        by_rule.setdefault(state.groups[move.place.group].rule, []).append(number)
    return by_rule


def _leaf_steps(
    state: OptState, moves: Sequence[Move], step: Any, followed: Followed
) -> list[LeafStep]:
    hyper: dict[int, list[dict[str, Any]]] = {}
    rested: dict[int, list[Any]] = {}
    taken: dict[int, list[Any]] = {}
    for number in {move.place.group for move in moves}:
        group = state.groups[number]
        hyper[number] = group.hyper_by_row(followed[number])
        rested[number] = tf.unstack(read(group.rested), num=len(group.paths))
        taken[number] = tf.unstack(read(group.taken), num=len(group.paths))
    return [
        LeafStep(
            leaf=read(move.value),
            grad=dense(move.grad),
            step=(taken[group][row] + 1 if state.plan.per_leaf else step + 1 - rested[group][row]),
            taken=taken[group][row],
            hyper=hyper[group][row],
            slots=_read(state.slots_at(move.place)),
            path=state.groups[group].paths[row],
            target=state.groups[group].targets[row],
        )
        for move in moves
        for group, row in [(move.place.group, move.place.row)]
    ]


def _read(cells: Slots) -> Slots:
    return {name: read(cell) for name, cell in cells.items()}


def _frozen(state: OptState, move: Move) -> Any:
    return read(state.groups[move.place.group].frozen)[move.place.row]


def _step_leaves(
    state: OptState,
    rule: Rule,
    moves: Sequence[Move],
    at: Sequence[LeafStep],
    outcome: _Outcome,
    writer: Writer,
) -> list[Any]:
    frozen_of = [_frozen(state, move) for move in moves]
    seen = _seen(state, rule, _without_frozen(at, frozen_of), outcome, writer)
    values = []
    for move, leaf, frozen in zip(moves, at, frozen_of, strict=True):
        after, new_slots = seen.step(leaf)
        cells = state.slots_at(move.place)
        outcome.slots[move.place] = {
            name: writer.put(cells[name], unless(frozen, new_slots[name], leaf.slots[name]))
            for name in cells
        }
        values.append(_move(move, after, frozen, writer))
    return values


def _seen(
    state: OptState, rule: Rule, leaves: Sequence[LeafStep], outcome: _Outcome, writer: Writer
) -> Rule:
    if not rule.sees:
        return rule
    number = next(n for n, group in enumerate(state.groups) if group.rule is rule)
    cells = state.groups[number].shared
    seen, shared = rule.seeing(leaves, _read(cells))
    outcome.shared[number] = {name: writer.put(cells[name], shared[name]) for name in cells}
    return seen


def _move(move: Move, after: LeafStep, frozen: Any, writer: Writer) -> Any:
    stays = frozen if after.active is None else frozen | ~after.active
    constrain = _constrained(move.value, stays)
    if after.becomes is not None:
        value = unless(stays, tf.cast(after.becomes, after.leaf.dtype), after.leaf)
        return writer.put(move.value, value if constrain is None else constrain(value))
    subtract = unless(stays, after.grad, tf.zeros_like(after.grad))
    return writer.move(move.value, tf.cast(subtract, after.leaf.dtype), constrain)


def _without_frozen(at: Sequence[LeafStep], frozen_of: Sequence[Any]) -> list[LeafStep]:
    """A frozen leaf adds nothing to what a rule sees, as if the model did not train it."""
    return [
        replace(leaf, grad=unless(frozen, leaf.grad, tf.zeros_like(leaf.grad)))
        for leaf, frozen in zip(at, frozen_of, strict=True)
    ]


def _step_by_itself(state: OptState, moves: Sequence[Move], writer: Writer) -> list[Any]:
    """An adopted optimizer moves everything; what is frozen is then put back."""
    held = []
    for move in moves:
        frozen = _frozen(state, move)
        cells = (move.value, *state.slots_at(move.place).values())
        held += [(cell, read(cell), frozen) for cell in cells]
    step_by_own_update(
        state.own_stepper, [move.grad for move in moves], [move.value for move in moves]
    )
    for cell, before, frozen in held:
        writer.put(cell, unless(frozen, read(cell), before))
    return [move.value for move in moves]


def unless(stays: Any, new: Any, old: Any) -> Any:
    """Decided when the function runs, so that freezing reaches functions traced earlier."""
    return tf.where(stays, old, new)


def _constrained(leaf: Any, stays: Any) -> Callable[[Any], Any] | None:
    """The variable's own `constraint`, which Keras applies after each step."""
    constraint = getattr(leaf, "constraint", None) if is_variable(leaf) else None
    if constraint is None:
        return None
    return lambda value: unless(stays, constraint(value), value)


def _after(
    state: OptState, moves: Sequence[Move], outcome: _Outcome, step: Any, writer: Writer
) -> OptState:
    stepped = {move.place for move in moves}
    groups = [
        replace(
            group,
            **_counts_after(number, group, stepped, writer),
            shared=outcome.shared.get(number, group.shared),
            slots=tuple(
                outcome.slots.get(Place(number, row), slots)
                for row, slots in enumerate(group.slots)
            ),
        )
        for number, group in enumerate(state.groups)
    ]
    counted = state.own_stepper is not None
    new_step = state.step if counted else writer.put(state.step, step + 1)
    return state if state.is_live and writer.in_place else state.with_groups(new_step, groups)


def _counts_after(number: int, group: Group, stepped: set[Place], writer: Writer) -> dict[str, Any]:
    """A frozen leaf rests; any other that has a gradient takes a step."""
    frozen = read(group.frozen)
    has_grad = tf.constant([Place(number, row) in stepped for row in range(len(group.paths))])
    return {
        "rested": writer.put(group.rested, read(group.rested) + tf.cast(frozen, tf.int64)),
        "taken": writer.put(group.taken, read(group.taken) + tf.cast(has_grad & ~frozen, tf.int64)),
    }
