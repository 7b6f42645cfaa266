"""Half precision: what a rule computes for float16 and bfloat16 leaves, it computes in float32.

The square of a gradient leaves the range of float16, and a decay of 0.999 is 1 in bfloat16, so that
with slots of these dtypes a rule would diverge or stall.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

HALF = ("float16", "bfloat16")


def widened(value: Any) -> Any:
    """float16 and bfloat16 as float32, anything else as it is."""
    return tf.cast(value, tf.float32) if value.dtype.name in HALF else value
