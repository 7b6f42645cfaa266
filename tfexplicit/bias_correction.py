"""What a moving average that started at 0 still lacks."""

from __future__ import annotations

from typing import Any

import tensorflow as tf


def bias_correction(beta: Any, step: Any) -> Any:
    """`1 - beta ** step`, a float64 scalar: rounded to float32, `beta` would be felt in the result.

    Kingma and Ba 2014, section 3, https://arxiv.org/abs/1412.6980
    """
    return 1 - tf.pow(beta, tf.cast(step, tf.float64))
