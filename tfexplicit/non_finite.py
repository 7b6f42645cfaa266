"""Steps that are left out because a gradient is not finite."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import tensorflow as tf

from tfexplicit.rule import LeafStep, Slots


def any_steps(leaves: Sequence[LeafStep]) -> Any:
    """False while every leaf rests, such as between the steps of `AccumulateGrads`."""
    return tf.reduce_any([True if leaf.active is None else leaf.active for leaf in leaves])


def all_finite(leaves: Sequence[LeafStep]) -> Any:
    """True if no leaf that steps has an infinity or a NaN in its gradient."""
    return tf.reduce_all([_is_finite(leaf) for leaf in leaves])


def _is_finite(leaf: LeafStep) -> Any:
    parts = [tf.math.real(leaf.grad), tf.math.imag(leaf.grad)]
    parts = parts if leaf.grad.dtype.is_complex else [leaf.grad]
    finite = tf.reduce_all([tf.reduce_all(tf.math.is_finite(part)) for part in parts])
    return finite if leaf.active is None else finite | ~leaf.active


def no_steps_left_out() -> Slots:
    return {"skipped": tf.zeros([], tf.int64)}


def stepping_unless(at: LeafStep, left_out: Any) -> tuple[LeafStep, Slots]:
    """The rules after this one rest if the step is left out, and never count it."""
    skipped = at.slots["skipped"]
    slots = at.kept({"skipped": skipped + tf.cast(left_out, tf.int64)})
    counted = replace(at, step=at.step - skipped, taken=at.taken - skipped)
    return counted.resting_unless(~left_out), slots
