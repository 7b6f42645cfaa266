"""A step of some leaves by the fused ops of their rule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import tensorflow as tf

from tfexplicit.arrays import raw, read
from tfexplicit.fused import Fused, Kernel, Scalars
from tfexplicit.opened import Opened
from tfexplicit.rule import LeafStep, Slots


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


def ready_for_kernel(leaf: Opened, fused: Fused) -> Ready | None:
    """None if the rules before the kernel may let the leaf rest, and the kernel cannot."""
    at, slots = (leaf.at, {}) if fused.before is None else fused.before(leaf.at)
    if fused.kernel.at_rest is None and at.active is not None:
        return None
    return Ready(leaf, fused, at, slots, leaf.stays_after(at))


def step_by_kernels(ready: Sequence[Ready]) -> None:
    """Step these leaves and the slots of their kernels in place."""
    for kernel, together in _by_kernel(ready):
        _run(kernel, together)


def _by_kernel(ready: Sequence[Ready]) -> list[tuple[Kernel, list[Ready]]]:
    """Leaves whose numbers are computed together, as vectors."""
    found: dict[Any, list[Ready]] = {}
    for one in ready:
        key = (id(one.fused.kernel), one.fused.part, one.at.grad.dtype, one.fused.decay is None)
        found.setdefault(key, []).append(one)
    return [(together[0].fused.kernel, together) for together in found.values()]


def _run(kernel: Kernel, ready: Sequence[Ready]) -> None:
    grads, rows = [one.at.grad for one in ready], _scalars(kernel, ready)
    if kernel.at_rest is not None:
        grads = _zeros_where(tf.stack([one.stays for one in ready]), grads)
    for one, grad, scalars in zip(ready, grads, rows, strict=True):
        variable = raw(one.leaf.move.value)
        if one.fused.decay is not None:
            lost = tf.raw_ops.MulNoNan(x=read(variable), y=scalars.pop("decay"))
            variable.assign_sub(lost, read_value=False)
        cells = {name: raw(one.leaf.cells[one.fused.full(name)]).handle for name in kernel.slots}
        kernel.run(variable.handle, grad, cells, scalars)


def _scalars(kernel: Kernel, ready: Sequence[Ready]) -> list[Scalars]:
    """What each leaf's op gets, computed for all of them at once."""
    first, dtype = ready[0].fused, ready[0].at.grad.dtype
    start = first.full("")
    hyper = {
        name.removeprefix(start): tf.stack([one.at.hyper[name] for one in ready])
        for name in ready[0].at.hyper
        if name.startswith(start)
    }
    vectors = kernel.scalars(hyper, tf.stack([one.at.step for one in ready]), dtype)
    at_rest = dict(kernel.at_rest or {})
    if first.decay is not None:
        factors = [one.fused.decay(one.at) for one in ready if one.fused.decay is not None]
        vectors["decay"] = tf.cast(tf.stack(factors), dtype)
        at_rest["decay"] = 0.0
    if kernel.at_rest is not None:
        stays = tf.stack([one.stays for one in ready])
        vectors = {
            name: tf.where(stays, tf.constant(at_rest[name], dtype), vector)
            for name, vector in vectors.items()
        }
    columns = {name: tf.unstack(vector, num=len(ready)) for name, vector in vectors.items()}
    return [{name: column[row] for name, column in columns.items()} for row in range(len(ready))]
