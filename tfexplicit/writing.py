"""Where the results of a step go: into variables and arrays, or into new tensors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from tfexplicit.arrays import is_variable, raw, read


@dataclass(frozen=True)
class Writer:
    """`in_place` assigns what is a variable; everything else comes back as a new tensor."""

    in_place: bool

    def put(self, cell: Any, value: Any) -> Any:
        """Give a cell of the state a new value."""
        if self.in_place and is_variable(cell):
            raw(cell).assign(value, read_value=False)
            return cell
        return value

    def put_rows(self, cell: Any, ids: Any, rows: Any) -> Any:
        """Give some rows of a leaf or slot new values."""
        if self.in_place and is_variable(cell):
            raw(cell).scatter_update(tf.IndexedSlices(rows, ids))
            return cell
        return tf.tensor_scatter_nd_update(read(cell), ids[:, tf.newaxis], rows)

    def move(self, leaf: Any, subtract: Any, constrain: Callable[[Any], Any] | None) -> Any:
        """Subtract from a leaf, then hold it to its constraint."""
        if self.in_place and is_variable(leaf):
            variable = raw(leaf)
            variable.assign_sub(subtract, read_value=False)
            if constrain is not None:
                variable.assign(constrain(read(leaf)), read_value=False)
            return leaf
        moved = read(leaf) - subtract
        return moved if constrain is None else constrain(moved)


def is_known(value: Any) -> bool:
    """False for a tensor of a function that is being traced."""
    return hasattr(value, "numpy")


def overwritten(array: Any, value: Any, path: str) -> Any:
    """The array itself, with new content.

    Raises:
        TypeError: inside a `tf.function`, which runs Python only while it is traced.
    """
    if not is_known(value):
        raise TypeError(
            f"update: the {type(array).__name__} at {path!r} is written in Python, and a "
            "tf.function runs that only while it is traced. Use a tf.Variable, or call tx.update "
            "outside of the tf.function."
        )
    array[...] = value.numpy()
    return array
