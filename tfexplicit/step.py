"""One step of the optimiser over some leaves: the same ops in place and pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import tensorflow as tf

from tfexplicit.arrays import read
from tfexplicit.group import Group
from tfexplicit.keras_optimizers.adopted import step_by_own_update
from tfexplicit.opened import Followed, Move
from tfexplicit.plan import Place
from tfexplicit.rule import Rule
from tfexplicit.state import OptState
from tfexplicit.step_of_rule import Outcome, RuleStep, step_rule, unless
from tfexplicit.writing import Writer


def followed_values(state: OptState, moves: Sequence[Move]) -> Followed:
    step = read(state.step)
    return {
        number: state.groups[number].followed(step)
        for number in sorted({move.place.group for move in moves})
    }


def take_step(
    state: OptState, moves: Sequence[Move], followed: Followed, writer: Writer
) -> tuple[OptState, list[Any]]:
    """Step every leaf of `moves`; the state and the leaf values afterwards."""
    step = read(state.step)
    values: list[Any] = [None] * len(moves)
    outcome = Outcome()
    for rule, numbers in _by_rule(state, moves).items():
        own = [moves[number] for number in numbers]
        if state.own_stepper is not None:
            new_values = _step_by_itself(state, own, writer)
        else:
            new_values = step_rule(RuleStep(state, rule, own, step, followed, outcome, writer))
        for number, value in zip(numbers, new_values, strict=True):
            values[number] = value
    return _after(state, moves, outcome, step, writer), values


def _by_rule(state: OptState, moves: Sequence[Move]) -> dict[Rule, list[int]]:
    """Leaves that share a rule are stepped together, so that it sees their whole gradient."""
    by_rule: dict[Rule, list[int]] = {}
    for number, move in enumerate(moves):
        by_rule.setdefault(state.groups[move.place.group].rule, []).append(number)
    return by_rule


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


def _after(
    state: OptState, moves: Sequence[Move], outcome: Outcome, step: Any, writer: Writer
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
