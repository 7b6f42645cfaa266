"""The proximal step of L1 and L2 penalties."""

from __future__ import annotations

from typing import Any

import tensorflow as tf


def proximal(value: Any, rate: Any, l1: Any, l2: Any) -> Any:
    """The minimum over `w` of `|w - value|^2 / 2 + rate * (l1 |w| + l2 |w|^2 / 2)`.

    Duchi and Singer 2009, section 5, https://jmlr.org/papers/v10/duchi09a.html. `rate` is real and
    has the shape of `value`, `l1` and `l2` are float64 scalars. What `l1` rules out is exactly 0.
    """
    size = tf.abs(value)
    left = size - rate * tf.cast(l1, rate.dtype)
    stays = tf.logical_and(left > 0, size > 0)
    share = tf.where(stays, left / tf.where(stays, size, tf.ones_like(size)), tf.zeros_like(size))
    return value * tf.cast(share / (1 + rate * tf.cast(l2, rate.dtype)), value.dtype)
