"""What of a leaf and its slots a step reads and writes: all of it, or the rows it has seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from tfexplicit.arrays import raw, read
from tfexplicit.writing import Writer


@dataclass(frozen=True)
class Window:
    """With `ids`, only these rows of every array that has the leaf's shape.

    An id may come again; then its rows are equal, and `distinct` is true for one of them. So every
    shape is known before the step, which XLA needs.
    """

    shape: tuple[int | None, ...]
    ids: Any = None
    distinct: Any = None

    def read(self, cell: Any) -> Any:
        # Of a variable, `gather` reads the rows alone, so the cost does not grow with the table.
        return read(cell) if self._is_whole(cell) else tf.gather(raw(cell), self.ids)

    def put(self, writer: Writer, cell: Any, value: Any) -> Any:
        if self._is_whole(cell):
            return writer.put(cell, value)
        # They are all the same, but only one of them may be differentiated through.
        value = tf.where(self.distinct, value, tf.stop_gradient(value))
        return writer.put_rows(cell, self.ids, value)

    def _is_whole(self, cell: Any) -> bool:
        return self.ids is None or tuple(raw(cell).shape) != self.shape


def window_on(grad: tf.IndexedSlices, shape: tuple[int | None, ...]) -> tuple[Window, Any]:
    """The window on the rows of `grad`, and their gradients: those of one id added up."""
    order = tf.argsort(grad.indices, stable=True)
    ids = tf.gather(grad.indices, order)
    is_first = tf.concat([tf.ones_like(ids[:1], tf.bool), tf.not_equal(ids[1:], ids[:-1])], 0)
    place = tf.cumsum(tf.cast(is_first, tf.int32)) - 1
    totals = tf.math.unsorted_segment_sum(tf.gather(grad.values, order), place, tf.size(ids))
    distinct = tf.reshape(is_first, [-1] + [1] * (len(shape) - 1))
    return Window(shape, ids, distinct), tf.gather(totals, place)
