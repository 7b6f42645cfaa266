"""Moving averages of gradients and of their squares, for the rules that adapt to them."""

from __future__ import annotations

from typing import Any

import tensorflow as tf


def moving_average(average: Any, value: Any, beta: Any) -> Any:
    return average + (value - average) * tf.cast(1 - beta, average.dtype)


def squared(value: Any) -> Any:
    """|value|^2, in the dtype of `value`."""
    return value * tf.math.conj(value) if value.dtype.is_complex else tf.square(value)


def larger(a: Any, b: Any) -> Any:
    """The second moments of complex leaves are real numbers in a complex array."""
    if a.dtype.is_complex:
        return tf.where(tf.math.real(a) > tf.math.real(b), a, b)
    return tf.maximum(a, b)


def root(value: Any) -> Any:
    """The square root of a second moment; at 0 its gradient is 0, where that of `sqrt` is NaN."""
    return tf.cast(_root(tf.math.real(value)), value.dtype)


@tf.custom_gradient  # type: ignore[untyped-decorator]
def _root(value: Any) -> Any:
    """A single op going forward, for the steps that nobody differentiates."""
    result = tf.sqrt(value)

    def gradient(upstream: Any) -> Any:
        at_zero = tf.equal(value, 0)
        # Through `root` again, so that derivatives of derivatives are finite too.
        slope = 0.5 / tf.where(at_zero, tf.ones_like(value), _root(value))
        return tf.where(at_zero, tf.zeros_like(upstream), upstream * slope)

    return result, gradient
