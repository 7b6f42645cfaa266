"""A step of many small leaves at once: those whose slots are rows of the same variables."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import tensorflow as tf

from tfexplicit.arrays import raw, read
from tfexplicit.by_kernel import Ready
from tfexplicit.composite import part_of
from tfexplicit.fused import Fused, Scalars
from tfexplicit.rule import Slots
from tfexplicit.ways import STACKS_AT_A_TIME, under_xla


def step_by_stacks(ready: Sequence[Ready]) -> None:
    """Step these leaves and their slots in place."""
    of_groups: dict[Any, Numbers] = {}
    # Those that are in memory now.
    recent: deque[Any] = deque(maxlen=STACKS_AT_A_TIME)
    for leaves in _by_stack(ready):
        numbers, entries = _numbers(leaves, of_groups)
        with tf.control_dependencies([recent[0]] if len(recent) == STACKS_AT_A_TIME else []):
            grads = tf.stack([one.at.grad for one in leaves])
        moves = _moves(leaves, numbers, entries, grads)
        for one, move in zip(leaves, tf.unstack(moves, num=len(leaves)), strict=True):
            last = raw(one.leaf.move.value).assign_add(move, read_value=False)
        recent.append(last)


def _by_stack(ready: Sequence[Ready]) -> list[list[Ready]]:
    found: dict[Any, list[Ready]] = {}
    for one in ready:
        first = one.leaf.cells[one.fused.full(one.fused.kernel.slots[0])]
        key = (id(first.stack), one.fused.kernel, one.fused.part, one.fused.decay is None)
        found.setdefault(key, []).append(one)
    return list(found.values())


@dataclass(frozen=True, eq=False)
class Numbers:
    """What leaves are stepped by: hyperparameters by their full names, and counts, in vectors.

    What an op gets of them is made once, for all the stacks that share them.
    """

    fused: Fused
    dtype: Any
    hyper: dict[str, Any]
    step: Any
    # True where a leaf stays as it is; None if none can.
    stays: Any

    @cached_property
    def are_equal(self) -> Any:
        """True if all leaves move, and by the same numbers, as an op needs it."""
        equal = [tf.reduce_all(each == each[0]) for each in (*self.hyper.values(), self.step)]
        moving = [] if self.stays is None else [~tf.reduce_any(self.stays)]
        return tf.reduce_all([*equal, *moving])

    @cached_property
    def scalars(self) -> Scalars:
        """The numbers of the op, if they are equal."""
        first = {name: vector[:1] for name, vector in self.of_kernel.items()}
        vectors = self.fused.kernel.scalars(first, self.step[:1], self.dtype)
        return {name: vector[0] for name, vector in vectors.items()}

    @property
    def of_kernel(self) -> dict[str, Any]:
        return part_of(self.hyper, self.fused.part) if self.fused.part else self.hyper

    def at(self, entries: Sequence[int]) -> Numbers:
        hyper = {name: tf.gather(vector, entries) for name, vector in self.hyper.items()}
        stays = None if self.stays is None else tf.gather(self.stays, entries)
        return replace(self, hyper=hyper, step=tf.gather(self.step, entries), stays=stays)


def _numbers(leaves: Sequence[Ready], of_groups: dict[Any, Numbers]) -> tuple[Numbers, list[int]]:
    """Numbers, and where in them those of these leaves stand."""
    fused, leaf, dtype = leaves[0].fused, leaves[0].leaf, leaves[0].at.grad.dtype
    entries = [one.leaf.move.place.row for one in leaves]
    frozen = None if leaf.frozen is None else leaf.vectors.frozen
    whole = of_groups.setdefault(
        (leaf.move.place.group, fused.kernel, fused.part, dtype),
        Numbers(fused, dtype, leaf.vectors.hyper, leaf.vectors.step, frozen),
    )
    if fused.before is None:
        return whole, entries
    # The rules before the op may count otherwise, and let leaves rest.
    can_stay = any(one.stays is not None for one in leaves)
    stays = tf.stack([one.stays is not None and one.stays for one in leaves]) if can_stay else None
    steps = tf.stack([one.at.step for one in leaves])
    return replace(whole.at(entries), step=steps, stays=stays), list(range(len(leaves)))


def _moves(leaves: Sequence[Ready], numbers: Numbers, entries: list[int], grads: Any) -> Any:
    """What to add to the leaves, stacked; their slots are written to."""
    fused = leaves[0].fused
    cells = {name: leaves[0].leaf.cells[fused.full(name)] for name in fused.kernel.slots}
    stacks = {name: raw(cell.stack) for name, cell in cells.items()}
    rows = [one.leaf.cells[fused.full(fused.kernel.slots[0])].row for one in leaves]
    is_whole = rows == list(range(next(iter(stacks.values())).shape[0]))

    def by_formula() -> Any:
        return _by_formula(fused, stacks, None if is_whole else rows, numbers.at(entries), grads)

    if is_whole and not under_xla():
        are_equal, scalars = numbers.are_equal, numbers.scalars
        scratch = raw(next(iter(cells.values())).scratch)
        moves = tf.cond(
            are_equal, lambda: _by_op(fused, scratch, stacks, scalars, grads), by_formula
        )
    else:
        moves = by_formula()
    return moves if fused.decay is None else moves - _lost(leaves, numbers.at(entries))


def _by_op(fused: Fused, scratch: Any, stacks: Slots, scalars: Scalars, grads: Any) -> Any:
    """The op steps a leaf that is zero: what it holds then is the step."""
    scratch.assign(tf.zeros_like(grads), read_value=False)
    handles = {name: each.handle for name, each in stacks.items()}
    fused.kernel.run(scratch.handle, grads, handles, scalars)
    return read(scratch)


def _by_formula(
    fused: Fused, stacks: Slots, rows: list[int] | None, numbers: Numbers, grads: Any
) -> Any:
    """With numbers of its own for each leaf; `rows` are those of some leaves, None for all."""

    def spread(vector: Any) -> Any:
        return tf.reshape(vector, [-1] + [1] * (grads.shape.rank - 1))

    whole = {name: read(stack) for name, stack in stacks.items()}
    slots = whole if rows is None else {n: tf.gather(each, rows) for n, each in whole.items()}
    hyper = {name: spread(vector) for name, vector in numbers.of_kernel.items()}
    rule = fused.rule.carrying(**hyper)
    # Of the leaves only shape and dtype matter.
    subtract, new = rule.apply(slots, grads, grads, spread(numbers.step))
    if numbers.stays is not None:
        stays = spread(numbers.stays)
        subtract = tf.where(stays, tf.zeros_like(subtract), subtract)
        new = {name: tf.where(stays, slots[name], each) for name, each in new.items()}
    for name, each in new.items():
        if rows is not None:
            index = [[row] for row in rows]
            each = tf.tensor_scatter_nd_update(whole[name], index, each)
        stacks[name].assign(each, read_value=False)
    return -subtract


def _lost(leaves: Sequence[Ready], numbers: Numbers) -> Any:
    """What decay takes of the leaves, stacked."""
    decay = leaves[0].fused.decay
    assert decay is not None
    values = tf.stack([read(one.leaf.move.value) for one in leaves])
    factors = decay(numbers.hyper)
    if numbers.stays is not None:
        factors = tf.where(numbers.stays, tf.zeros_like(factors), factors)
    factors = tf.reshape(factors, [-1] + [1] * (values.shape.rank - 1))
    return tf.raw_ops.MulNoNan(x=values, y=tf.cast(factors, values.dtype))
