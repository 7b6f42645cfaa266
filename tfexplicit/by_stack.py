"""A step of many small leaves at once: those whose slots are rows of the same variables."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import tensorflow as tf

from tfexplicit.arrays import raw, read
from tfexplicit.by_kernel import Ready, kernel_of, together
from tfexplicit.fused import Fused, Kernel, Scalars
from tfexplicit.rule import Slots
from tfexplicit.stack_numbers import Numbers, numbers_of
from tfexplicit.ways import STACKS_AT_A_TIME, under_xla


def step_by_stacks(ready: Sequence[Ready]) -> None:
    """Step these leaves and their slots in place."""
    # Those that are in memory now.
    recent: deque[Any] = deque(maxlen=STACKS_AT_A_TIME)
    for stack in _stacks(ready):
        with tf.control_dependencies([recent[0]] if len(recent) == STACKS_AT_A_TIME else []):
            grads = tf.stack([one.at.grad for one in stack.leaves])
        moves = tf.unstack(_moves(stack, grads), num=len(stack.leaves))
        for one, move in zip(stack.leaves, moves, strict=True):
            last = raw(one.leaf.move.value).assign_add(move, read_value=False)
        recent.append(last)


class Op(NamedTuple):
    """What steps all leaves of a stack at once."""

    kernel: Kernel
    # True if all leaves move, and by the same numbers.
    can_step: Any
    scalars: Scalars


@dataclass(frozen=True, eq=False)
class Stack:
    """Leaves whose slots share variables, and what they are stepped by."""

    leaves: Sequence[Ready]
    numbers: Numbers
    op: Op | None
    # Steps them whatever the numbers: `_by_formula`, traced once for stacks of the same form.
    formula: Callable[..., Any]

    @property
    def fused(self) -> Fused:
        return self.leaves[0].fused

    @property
    def cells(self) -> Slots:
        """The slots of the first leaf, by their names in the kernel."""
        cells = self.leaves[0].leaf.cells
        return {name: cells[self.fused.full(name)] for name in self.fused.own_slots}

    @property
    def rows(self) -> list[int] | None:
        """The rows of its leaves in the shared variables; None if these hold no others."""
        cells = [_first_cell(one) for one in self.leaves]
        rows = [cell.row for cell in cells]
        return None if rows == list(range(cells[0].stack.shape[0])) else rows


def _stacks(ready: Sequence[Ready]) -> Iterator[Stack]:
    for alike in together(ready, lambda one: (one.leaf.move.place.group, *kernel_of(one))):
        fused, dtype = alike[0].fused, alike[0].at.grad.dtype
        stacks = together(alike, _shared_variable_of)
        sizes = [len(leaves) for leaves in stacks]
        numbers = numbers_of([one for leaves in stacks for one in leaves])
        formula = tf.function(
            partial(_by_formula, fused),
            autograph=False,
            # So it costs nothing until a step needs it.
            experimental_attributes={"_noinline": True},
        )
        ops = _ops(fused.kernel, numbers, sizes, dtype)
        for each in zip(stacks, numbers.split(sizes), ops, strict=True):
            yield Stack(*each, formula)


def _ops(
    kernel: Kernel | None, numbers: Numbers, sizes: Sequence[int], dtype: Any
) -> list[Op | None]:
    if kernel is None or under_xla():
        return [None] * len(sizes)
    can_step, scalars = numbers.are_equal(sizes), numbers.scalars(kernel, sizes, dtype)
    return [Op(kernel, *each) for each in zip(can_step, scalars, strict=True)]


def _shared_variable_of(one: Ready) -> Any:
    return id(_first_cell(one).stack)


def _first_cell(one: Ready) -> Any:
    return one.leaf.cells[one.fused.full(one.fused.own_slots[0])]


def _moves(stack: Stack, grads: Any) -> Any:
    """What to add to the leaves, stacked; their slots are written to."""
    slots = {name: raw(cell.stack) for name, cell in stack.cells.items()}
    op = stack.op
    if under_xla() or stack.rows is not None:
        moves = _by_formula(stack.fused, slots, stack.numbers, grads, stack.rows)
    elif op is None:
        moves = stack.formula(slots, stack.numbers, grads)
    else:
        scratch = raw(_first_cell(stack.leaves[0]).scratch)
        moves = tf.cond(
            op.can_step,
            lambda: _by_op(op, scratch, slots, grads),
            lambda: stack.formula(slots, stack.numbers, grads),
        )
    lost = stack.numbers.lost
    if lost is None:
        return moves
    values = tf.stack([read(one.leaf.move.value) for one in stack.leaves])
    factors = _spread(tf.cast(lost, values.dtype), values)
    return moves - tf.raw_ops.MulNoNan(x=values, y=factors)


def _by_op(op: Op, scratch: Any, slots: Slots, grads: Any) -> Any:
    """The op steps a leaf that is zero: what it holds then is the step."""
    scratch.assign(tf.zeros_like(grads), read_value=False)
    handles = {name: each.handle for name, each in slots.items()}
    op.kernel.run(scratch.handle, grads, handles, op.scalars)
    return read(scratch)


def _by_formula(
    fused: Fused, stacks: Slots, numbers: Numbers, grads: Any, rows: list[int] | None = None
) -> Any:
    """With numbers of its own for each leaf; `rows` are those of some leaves, None for all."""
    whole = {name: read(stack) for name, stack in stacks.items()}
    slots = whole if rows is None else {n: tf.gather(each, rows) for n, each in whole.items()}
    rule = fused.rule.carrying(
        **{name: _spread(vector, grads) for name, vector in numbers.hyper.items()}
    )
    # Of the leaves only shape and dtype matter.
    subtract, new = rule.apply(slots, grads, grads, _spread(numbers.step, grads))
    if numbers.stays is not None:
        stays = _spread(numbers.stays, grads)
        subtract = tf.where(stays, tf.zeros_like(subtract), subtract)
        new = {name: tf.where(stays, slots[name], each) for name, each in new.items()}
    for name, each in new.items():
        if rows is not None:
            index = [[row] for row in rows]
            each = tf.tensor_scatter_nd_update(whole[name], index, each)
        stacks[name].assign(each, read_value=False)
    return -subtract


def _spread(vector: Any, stacked: Any) -> Any:
    """With the entry of a leaf at each of its numbers."""
    return tf.reshape(vector, [-1] + [1] * (stacked.shape.rank - 1))
