"""`Ref`: a mutable cell around values that cannot be changed themselves."""

from __future__ import annotations

from typing import Any

import tensorflow as tf


class Ref:
    """A cell whose `value` (a tensor, an ndarray, or a tuple of them) `update` replaces in place.

    Then what `update` returns may be ignored, as for variables. `updated` leaves the cell alone and
    returns a new one. The cell adds nothing to a path: the leaf in `{"w": tx.Ref(t)}` is `"w"`, and
    its gradient is given at `"w"` too.

    A `tf.function` runs Python only while it is traced, so there only a cell made in the same
    function can be written to; for anything longer-lived use a `tf.Variable`.
    """

    def __init__(self, value: Any) -> None:
        self.value = value
        self._made_in = _function()

    def __repr__(self) -> str:
        return f"Ref({self.value!r})"


def children(ref: Ref) -> list[tuple[str, Any]]:
    return [("", ref.value)]


def made_with(ref: Ref, values: list[Any]) -> Ref:
    return Ref(*values)


def write(ref: Ref, values: list[Any]) -> None:
    if ref._made_in is not _function():
        raise TypeError(
            "update: a tx.Ref is written in Python, and a tf.function runs that only while it is "
            "traced. Use a tf.Variable in place of the Ref, or call tx.update outside of the "
            "tf.function."
        )
    (ref.value,) = values


def _function() -> Any:
    """The function being traced; None when eager."""
    return None if tf.executing_eagerly() else tf.compat.v1.get_default_graph()
