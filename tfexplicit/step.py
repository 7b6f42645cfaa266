"""One step of the optimiser over some leaves: the same ops in place and pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import tensorflow as tf

from tfexplicit.arrays import constraint_of, raw, read
from tfexplicit.by_kernel import Ready, ready_for_kernel, step_by_kernels, without_frozen
from tfexplicit.fused import Fused
from tfexplicit.group import Group
from tfexplicit.keras_optimizers.adopted import step_by_own_update
from tfexplicit.opened import Followed, Move, Opened, opened
from tfexplicit.plan import Place
from tfexplicit.rule import LeafStep, Rule, Slots
from tfexplicit.state import OptState
from tfexplicit.ways import are_worth_two_traces, fused_way, may_branch
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


@dataclass(frozen=True)
class _Step:
    """One step of the leaves that share a rule."""

    state: OptState
    rule: Rule
    moves: Sequence[Move]
    step: Any
    followed: Followed
    outcome: _Outcome
    writer: Writer


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
            new_values = _step_rule(_Step(state, rule, own, step, followed, outcome, writer))
        for number, value in zip(numbers, new_values, strict=True):
            values[number] = value
    return _after(state, moves, outcome, step, writer), values


def _by_rule(state: OptState, moves: Sequence[Move]) -> dict[Rule, list[int]]:
    """Leaves that share a rule are stepped together, so that it sees their whole gradient."""
    by_rule: dict[Rule, list[int]] = {}
    for number, move in enumerate(moves):
        by_rule.setdefault(state.groups[move.place.group].rule, []).append(number)
    return by_rule


def _step_rule(one: _Step) -> list[Any]:
    """Step the leaves of a rule, at no cost for the freezing that might be but is not."""
    values = [move.value for move in one.moves]
    if not may_branch(one.state, values, one.writer):
        return _step_leaves(one, [None] * len(one.moves), may_be_frozen=True)
    fused = [fused_way(one.state, move) for move in one.moves]
    if any(own is not None and own.kernel.at_rest is not None for own in fused):
        rests = [own if own and own.kernel.at_rest is not None else None for own in fused]
        return _step_leaves(one, rests, may_be_frozen=True)
    if not are_worth_two_traces(values):
        return _step_leaves(one, [None] * len(values), may_be_frozen=True)
    numbers = sorted({move.place.group for move in one.moves})
    frozen = [tf.reduce_any(read(one.state.groups[number].frozen)) for number in numbers]
    tf.cond(
        tf.reduce_any(frozen),
        lambda: _without_outputs(_step_leaves(one, [None] * len(fused), may_be_frozen=True)),
        lambda: _without_outputs(_step_leaves(one, fused, may_be_frozen=False)),
    )
    return values


def _without_outputs(values: list[Any]) -> None:
    """A branch that assigns has nothing to give back."""


def _step_leaves(one: _Step, fused: Sequence[Fused | None], may_be_frozen: bool) -> list[Any]:
    leaves = opened(one.state, one.moves, one.step, one.followed, fused, may_be_frozen)
    if may_be_frozen and one.rule.sees and any(fused):
        leaves = without_frozen(leaves)
    seen = _seen(one, leaves)
    ready = [
        _ready(seen, leaf) if own is not None else None
        for leaf, own in zip(leaves, fused, strict=True)
    ]
    step_by_kernels([own for own in ready if own is not None])
    return [
        _step_by_formula(one, seen, leaf) if own is None else _stepped_by_kernel(one, own)
        for leaf, own in zip(leaves, ready, strict=True)
    ]


def _ready(seen: Rule, leaf: Opened) -> Ready | None:
    # Asked for again, of the rule that has seen the gradient.
    fused = seen.fused(leaf.at.path, leaf.move.value)
    return None if fused is None else ready_for_kernel(leaf, fused)


def _stepped_by_kernel(one: _Step, ready: Ready) -> Any:
    _put(one, ready.leaf, ready.slots)
    return ready.leaf.move.value


def _step_by_formula(one: _Step, seen: Rule, leaf: Opened) -> Any:
    after, slots = seen.step(leaf.at)
    _put(one, leaf, slots)
    return _move(leaf, after, one.writer)


def _put(one: _Step, leaf: Opened, new: Slots) -> None:
    """Slots that are not in `new` have been written to."""
    kept = {name: unless(leaf.frozen, new[name], leaf.at.slots[name]) for name in new}
    one.outcome.slots[leaf.move.place] = {
        name: leaf.window.put(one.writer, cell, kept[name]) if name in kept else cell
        for name, cell in leaf.cells.items()
    }


def _seen(one: _Step, leaves: Sequence[Opened]) -> Rule:
    if not one.rule.sees:
        return one.rule
    groups = one.state.groups
    number = next(number for number, group in enumerate(groups) if group.rule is one.rule)
    cells = groups[number].shared
    shared = {name: read(cell) for name, cell in cells.items()}
    seen, shared = one.rule.seeing([leaf.as_seen for leaf in leaves], shared)
    one.outcome.shared[number] = {name: one.writer.put(cells[name], shared[name]) for name in cells}
    return seen


def _move(leaf: Opened, after: LeafStep, writer: Writer) -> Any:
    value = leaf.move.value
    stays = leaf.stays_after(after)
    constrain = _constrained(value, stays)
    own = tf.as_dtype(raw(value).dtype)
    if after.becomes is None and leaf.window.ids is None and own == after.grad.dtype:
        subtract = after.grad
        if stays is not None:
            subtract = unless(stays, subtract, tf.zeros_like(subtract))
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
    return new if stays is None else tf.where(stays, old, new)


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
