"""The gradient of a leaf that is found at several places of a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import tensorflow as tf

# What the gradients at several places of one leaf are: each the whole, or parts of it.
Tied = Literal["total", "sum"]


def added_up(grads: Sequence[Any]) -> Any:
    """Sparse if all are: rows that several of them have are merged where they are stepped."""
    if all(isinstance(grad, tf.IndexedSlices) for grad in grads):
        return tf.IndexedSlices(
            tf.concat([grad.values for grad in grads], 0),
            tf.concat([tf.cast(grad.indices, tf.int64) for grad in grads], 0),
            grads[0].dense_shape,
        )
    return tf.add_n([tf.convert_to_tensor(grad) for grad in grads])


def the_one_gradient(path: str, grads: Sequence[Any]) -> Any:
    """The first, since a tape gives the whole gradient at every place of a tied leaf.

    That they agree is checked where the values are known, and in a `tf.function` when it runs;
    `jit_compile=True` drops such checks.
    """
    message = (
        f"the gradients at the places of the tied leaf {path!r} differ. A tape gives the whole "
        "gradient at each; give it at one place and None at the others. For parts that add up, "
        'write opt_state = tx.setup(rule, model, tied="sum").'
    )
    first, *others = map(tf.convert_to_tensor, grads)
    for other in others:
        agrees = tf.reduce_all((first == other) | ((first != first) & (other != other)))
        if not tf.executing_eagerly():
            tf.debugging.Assert(agrees, [message])
        elif not agrees:
            raise ValueError(message)
    return grads[0]
