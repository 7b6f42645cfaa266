"""One step of the leaves that share a rule: by fused ops where that pays, else by the formula."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import tensorflow as tf

from tfexplicit.arrays import constraint_of, raw, read
from tfexplicit.by_kernel import Ready, ready_for_kernel, step_by_kernels, without_frozen
from tfexplicit.by_stack import step_by_stacks
from tfexplicit.by_xla import Compiled, step_by_xla
from tfexplicit.opened import Followed, Move, Opened, opened
from tfexplicit.plan import Place
from tfexplicit.rule import LeafStep, Rule, Slots
from tfexplicit.state import OptState
from tfexplicit.ways import under_xla, ways_of
from tfexplicit.writing import Writer


@dataclass
class Outcome:
    """What a step has put, or would put, into the state."""

    slots: dict[Place, Slots] = field(default_factory=dict)
    shared: dict[int, Slots] = field(default_factory=dict)


@dataclass(frozen=True)
class RuleStep:
    """What a step of the leaves that share a rule starts from, and where its results go."""

    state: OptState
    rule: Rule
    moves: Sequence[Move]
    step: Any
    followed: Followed
    outcome: Outcome
    writer: Writer


def step_rule(one: RuleStep) -> list[Any]:
    """The values of the leaves afterwards: variables that were assigned, or new tensors."""
    moves = ways_of(one.state, one.moves, one.writer)
    leaves = opened(one.state, moves, one.step, one.followed)
    if one.rule.sees and any(move.has_own_way for move in moves):
        leaves = without_frozen(leaves)
    seen = _seen(one, leaves)
    ready = [
        None if leaf.move.skipped_if_frozen else ready_for_kernel(seen, leaf) for leaf in leaves
    ]
    by_op = [own for own in ready if own is not None]
    step_by_kernels([own for own in by_op if not own.leaf.move.in_stack])
    step_by_stacks([own for own in by_op if own.leaf.move.in_stack])
    compiled: Compiled = {}
    return [
        _step_alone(one, seen, leaf, compiled) if own is None else _stepped_by_kernel(one, own)
        for leaf, own in zip(leaves, ready, strict=True)
    ]


def _step_alone(one: RuleStep, seen: Rule, leaf: Opened, compiled: Compiled) -> Any:
    if leaf.move.by_xla:
        step_by_xla(partial(_step_by_formula, one, seen), leaf, compiled)
    elif leaf.move.skipped_if_frozen:
        tf.cond(leaf.frozen, lambda: None, lambda: _step_moving(one, seen, leaf))
    else:
        return _step_by_formula(one, seen, leaf)
    return leaf.move.value


def _step_moving(one: RuleStep, seen: Rule, leaf: Opened) -> None:
    moving = leaf.moving(leaf.move.value, leaf.cells)
    ready = ready_for_kernel(seen, moving)
    if ready is None:
        _step_by_formula(one, seen, moving)
    else:
        step_by_kernels([ready])
        _stepped_by_kernel(one, ready)


def _seen(one: RuleStep, leaves: Sequence[Opened]) -> Rule:
    if not one.rule.sees:
        return one.rule
    groups = one.state.groups
    number = next(number for number, group in enumerate(groups) if group.rule is one.rule)
    cells = groups[number].shared
    shared = {name: read(cell) for name, cell in cells.items()}
    seen, shared = one.rule.seeing([leaf.as_seen for leaf in leaves], shared)
    one.outcome.shared[number] = {name: one.writer.put(cells[name], shared[name]) for name in cells}
    return seen


def _stepped_by_kernel(one: RuleStep, ready: Ready) -> Any:
    _put(one, ready.leaf, ready.slots)
    return ready.leaf.move.value


def _step_by_formula(one: RuleStep, seen: Rule, leaf: Opened) -> Any:
    if leaf.frozen is not None and one.rule.keeps_slots_with is not None and under_xla():
        # The step is then made of the slots as they are written. Made of others, which a choice
        # comes after, it would be computed from the old ones, and XLA would have to copy them.
        after, slots = seen.step(_resting_if_frozen(leaf, one.rule.keeps_slots_with))
        _put(one, replace(leaf, frozen=None), slots)
    else:
        after, slots = seen.step(leaf.at)
        _put(one, leaf, slots)
    return _move(leaf, after, one.writer)


def _resting_if_frozen(leaf: Opened, numbers: Mapping[str, float]) -> LeafStep:
    at = leaf.at
    hyper = {
        name: unless(leaf.frozen, value, tf.constant(numbers[name], value.dtype))
        if name in numbers
        else value
        for name, value in at.hyper.items()
    }
    return replace(at, grad=unless(leaf.frozen, at.grad, tf.zeros_like(at.grad)), hyper=hyper)


def _put(one: RuleStep, leaf: Opened, new: Slots) -> None:
    """Slots that are not in `new` have been written to."""
    kept = {name: unless(leaf.frozen, new[name], leaf.at.slots[name]) for name in new}
    one.outcome.slots[leaf.move.place] = {
        name: leaf.window.put(one.writer, cell, kept[name]) if name in kept else cell
        for name, cell in leaf.cells.items()
    }


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


def unless(stays: Any, new: Any, old: Any) -> Any:
    """Decided when the function runs, so that freezing reaches functions traced earlier."""
    return new if stays is None else tf.where(stays, old, new)


def _constrained(leaf: Any, stays: Any) -> Callable[[Any], Any] | None:
    constraint = constraint_of(leaf)
    if constraint is None:
        return None
    return lambda value: unless(stays, constraint(value), value)
