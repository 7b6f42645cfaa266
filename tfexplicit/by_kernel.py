"""A step of some leaves by the fused ops of their rule."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import tensorflow as tf

from tfexplicit.arrays import raw, read
from tfexplicit.fused import Fused, Kernel
from tfexplicit.opened import Opened
from tfexplicit.rule import LeafStep, Rule, Slots


@dataclass(frozen=True)
class Ready:
    """A leaf before its op: the step after the rules that come before, and their slots."""

    leaf: Opened
    fused: Fused
    at: LeafStep
    slots: Slots
    stays: Any


def without_frozen(leaves: Sequence[Opened]) -> list[Opened]:
    """The same leaves; the gradients of those that are frozen are zeros."""
    stays = tf.stack([leaf.frozen for leaf in leaves])
    grads = _zeros_where(stays, [leaf.at.grad for leaf in leaves])
    return [
        replace(leaf, at=replace(leaf.at, grad=grad), cleared=True)
        for leaf, grad in zip(leaves, grads, strict=True)
    ]


def _zeros_where(stays: Any, grads: Sequence[Any]) -> list[Any]:
    """Zeros in place of the gradients of leaves that stay, NaN or not; `stays` is a vector.

    While no leaf stays, this costs no pass over memory: a condition hands tensors on as they are.
    """

    def cleared() -> list[Any]:
        moves = tf.unstack(tf.where(stays, 0.0, 1.0), num=len(grads))
        # Zero times NaN is zero here.
        return [
            tf.raw_ops.MulNoNan(x=grad, y=tf.cast(factor, grad.dtype))
            for grad, factor in zip(grads, moves, strict=True)
        ]

    return list(tf.cond(tf.reduce_any(stays), cleared, lambda: list(grads)))


def ready_for_kernel(seen: Rule, leaf: Opened) -> Ready | None:
    """None for a leaf that goes by the formula; also if the rules before the kernel may let it
    rest, and the kernel cannot. `seen` is the rule that has seen the gradient."""
    fused = None if leaf.move.fused is None else seen.fused(leaf.at.path, leaf.move.value)
    if fused is None:
        return None
    at, slots = (leaf.at, {}) if fused.before is None else fused.before(leaf.at)
    if at.active is not None and not leaf.move.can_rest:
        return None
    return Ready(leaf, fused, at, slots, leaf.stays_after(at))


def step_by_kernels(ready: Sequence[Ready]) -> None:
    """Step these leaves and the slots of their kernels in place."""
    for alike in together(ready, kernel_of):
        kernel = alike[0].fused.kernel
        assert kernel is not None
        _run(kernel, alike)


def together(ready: Sequence[Ready], key: Callable[[Ready], Any]) -> list[list[Ready]]:
    found: dict[Any, list[Ready]] = {}
    for one in ready:
        found.setdefault(key(one), []).append(one)
    return list(found.values())


def kernel_of(one: Ready) -> tuple[Any, ...]:
    """The same for leaves whose numbers are computed together, as vectors."""
    return one.fused.kernel, one.fused.part, one.at.grad.dtype, one.fused.decay is None


def _run(kernel: Kernel, ready: Sequence[Ready]) -> None:
    grads, lost, numbers = [one.at.grad for one in ready], _lost(ready), _numbers(kernel, ready)
    if kernel.at_rest is not None:
        stays = tf.stack([one.stays for one in ready])
        grads = _zeros_where(stays, grads)
        lost = None if lost is None else _number_where(stays, 0.0, lost)
        numbers = {
            name: _number_where(stays, kernel.at_rest[name], vector)
            for name, vector in numbers.items()
        }
    columns = {name: tf.unstack(vector, num=len(ready)) for name, vector in numbers.items()}
    factors = [None] * len(ready) if lost is None else tf.unstack(lost, num=len(ready))
    for row, (one, grad, factor) in enumerate(zip(ready, grads, factors, strict=True)):
        variable = raw(one.leaf.move.value)
        if factor is not None:
            decay = tf.raw_ops.MulNoNan(x=read(variable), y=factor)
            variable.assign_sub(decay, read_value=False)
        cells = {
            name: raw(one.leaf.cells[one.fused.full(name)]).handle for name in one.fused.own_slots
        }
        scalars = {name: column[row] for name, column in columns.items()}
        kernel.run(variable.handle, grad, cells, scalars)


def _number_where(stays: Any, number: float, vector: Any) -> Any:
    return tf.where(stays, tf.constant(number, vector.dtype), vector)


def _numbers(kernel: Kernel, ready: Sequence[Ready]) -> dict[str, Any]:
    """What the op gets by name, vectors with an entry per leaf."""
    own = [one.fused.own(one.at.hyper) for one in ready]
    hyper = {name: tf.stack([each[name] for each in own]) for name in own[0]}
    steps = tf.stack([one.at.step for one in ready])
    return kernel.scalars(hyper, steps, ready[0].at.grad.dtype)


def _lost(ready: Sequence[Ready]) -> Any:
    """The factor of itself that each leaf loses to decay, a vector; None where none decays."""
    factors = [one.fused.decay(one.at.hyper) for one in ready if one.fused.decay is not None]
    return tf.cast(tf.stack(factors), ready[0].at.grad.dtype) if factors else None
