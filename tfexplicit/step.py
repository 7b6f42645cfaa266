"""One step of the optimiser over some leaves: the same ops in place and pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import tensorflow as tf

from tfexplicit.arrays import raw, read
from tfexplicit.group import Group
from tfexplicit.keras_optimizers.adopted import step_by_own_update
from tfexplicit.opened import Followed, Move, Opened, constraint_of, opened
from tfexplicit.plan import Place
from tfexplicit.rule import LeafStep, Rule, Slots
from tfexplicit.state import OptState
from tfexplicit.writing import Writer


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
            leaves = opened(state, own, step, followed)
            new_values = _step_leaves(state, rule, leaves, outcome, writer)
        for number, value in zip(numbers, new_values, strict=True):
            values[number] = value
    return _after(state, moves, outcome, step, writer), values


def _by_rule(state: OptState, moves: Sequence[Move]) -> dict[Rule, list[int]]:
    """Leaves that share a rule are stepped together, so that it sees their whole gradient."""
    by_rule: dict[Rule, list[int]] = {}
    for number, move in enumerate(moves):
        by_rule.setdefault(state.groups[move.place.group].rule, []).append(number)
    return by_rule


def _step_leaves(
    state: OptState, rule: Rule, leaves: Sequence[Opened], outcome: _Outcome, writer: Writer
) -> list[Any]:
    seen = _seen(state, rule, leaves, outcome, writer)
    values = []
    for leaf in leaves:
        after, new_slots = seen.step(leaf.at)
        cells = state.slots_at(leaf.move.place)
        kept = {
            name: unless(leaf.frozen, new_slots[name], old) for name, old in leaf.at.slots.items()
        }
        outcome.slots[leaf.move.place] = {
            name: leaf.window.put(writer, cell, kept[name]) for name, cell in cells.items()
        }
        values.append(_move(leaf, after, writer))
    return values


def _seen(
    state: OptState, rule: Rule, leaves: Sequence[Opened], outcome: _Outcome, writer: Writer
) -> Rule:
    if not rule.sees:
        return rule
    number = next(n for n, group in enumerate(state.groups) if group.rule is rule)
    cells = state.groups[number].shared
    shared = {name: read(cell) for name, cell in cells.items()}
    seen, shared = rule.seeing([leaf.as_seen for leaf in leaves], shared)
    outcome.shared[number] = {name: writer.put(cells[name], shared[name]) for name in cells}
    return seen


def _move(leaf: Opened, after: LeafStep, writer: Writer) -> Any:
    value = leaf.move.value
    stays = leaf.frozen if after.active is None else leaf.frozen | ~after.active
    constrain = _constrained(value, stays)
    own = tf.as_dtype(raw(value).dtype)
    if after.becomes is None and leaf.window.ids is None and own == after.grad.dtype:
        subtract = unless(stays, after.grad, tf.zeros_like(after.grad))
        return writer.move(value, subtract, constrain)
    moved = tf.cast(unless(stays, tf.cast(after.moved, after.leaf.dtype), after.leaf), own)
    moved = moved if constrain is None else constrain(moved)
    return leaf.window.put(writer, value, moved)


def _step_by_itself(state: OptState, moves: Sequence[Move], writer: Writer) -> list[Any]:
    """An adopted optimizer moves everything; what is frozen is then put back."""
    held = []
    for move in moves:
        frozen = read(state.groups[move.place.group].frozen)[move.place.row]
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
    constraint = constraint_of(leaf)
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
