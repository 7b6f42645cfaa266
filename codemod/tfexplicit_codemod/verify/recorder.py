"""Records updates, eager or inside a `tf.function`, in the order in which they run."""

from __future__ import annotations

import json
import math
import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

from tfexplicit_codemod.verify.digest import digest_of, merged_rows, squared_norm


class Recorder:
    """Writes a record; see `records` for its format."""

    def __init__(self, record: Path) -> None:
        # A file descriptor: every line reaches the file at once, even if the process dies next.
        self._file = os.open(record, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._groups: dict[tuple[Any, ...], int] = {}
        self._thread = threading.local()

    def note(self, text: str) -> None:
        self._write(kind="note", text=text)

    def end(self, loaded: list[str], outside: list[str]) -> None:
        self._write(kind="end", loaded=loaded, outside=outside)

    @contextmanager
    def around_update(self, leaves: Sequence[Any], gradients: Sequence[Any]) -> Iterator[None]:
        """Wraps one update of the leaves. An update inside another is part of that other one.

        No gradients at all: Keras does nothing then, so nothing is recorded.
        """
        leaves, gradients = _without_untrained(leaves, gradients)
        depth = getattr(self._thread, "depth", 0)
        recording = depth == 0 and bool(gradients)
        before = _values_of(leaves) if recording else []
        self._thread.depth = depth + 1
        try:
            yield
        finally:
            self._thread.depth = depth
        if recording:
            self._record(list(leaves), before, list(gradients))

    def _record(self, leaves: list[Any], before: list[Any], gradients: list[Any]) -> None:
        """Reads the leaves and writes the record: now, or each time the graph being traced runs."""
        import tensorflow as tf

        group = self._group_of(leaves)
        present = [gradient for gradient in gradients if gradient is not None]
        sparse = [isinstance(gradient, tf.IndexedSlices) for gradient in present]
        tensors: list[Any] = []
        for gradient in present:
            if isinstance(gradient, tf.IndexedSlices):
                tensors += [gradient.values, gradient.indices]
            else:
                tensors.append(tf.convert_to_tensor(gradient))
        values = _values_of(leaves)

        def write(index: Any, *arrays: Any) -> None:
            inputs = iter(arrays)
            steps = [(next(inputs), next(inputs)) for _ in values]
            squares = [
                squared_norm(merged_rows(next(inputs), next(inputs)) if rows else next(inputs))
                for rows in sparse
            ]
            self._write(
                kind="update",
                index=int(index),
                group=group,
                gradient_norm=math.sqrt(sum(squares)),
                without_gradient=len(gradients) - len(present),
                leaves=[digest_of(value, old) for value, old in steps],
            )

        pairs = [each for pair in zip(values, before, strict=True) for each in pair]
        tf.numpy_function(write, [self._next_index(), *pairs, *tensors], [])

    def _next_index(self) -> Any:
        """The running number of the update.

        It is a resource, since TensorFlow keeps the order of the accesses to a resource through
        loops, branches and nested functions, but not the order of two calls of Python.
        """
        import tensorflow as tf

        tf.raw_ops.AssignAddVariableOp(resource=self._counter, value=tf.constant(1, tf.int64))
        return tf.raw_ops.ReadVariableOp(resource=self._counter, dtype=tf.int64)

    @cached_property
    def _counter(self) -> Any:
        import tensorflow as tf

        # No tf.Variable: in a distribution strategy's scope that would become a mirrored one.
        with tf.init_scope(), tf.device("CPU:0"):
            counter = tf.raw_ops.VarHandleOp(
                dtype=tf.int64, shape=[], shared_name="tfexplicit_verify_update_count"
            )
            tf.raw_ops.AssignVariableOp(resource=counter, value=tf.constant(0, tf.int64))
        return counter

    def _group_of(self, leaves: list[Any]) -> int:
        descriptions = [_description(leaf) for leaf in leaves]
        # The id alone may be that of a leaf that is gone, of another shape.
        key = tuple((id(leaf), *which) for leaf, which in zip(leaves, descriptions, strict=True))
        if key not in self._groups:
            self._groups[key] = len(self._groups)
            self._write(
                kind="group",
                group=self._groups[key],
                leaves=descriptions,
            )
        return self._groups[key]

    def _write(self, **entry: Any) -> None:
        os.write(self._file, json.dumps(entry).encode() + b"\n")


def _without_untrained(
    leaves: Sequence[Any], gradients: Sequence[Any]
) -> tuple[Sequence[Any], Sequence[Any]]:
    """Without the variables that are not trainable and have no gradient.

    An update passes over them, so it is the same whether they are named (`model.variables`) or not.
    """
    if len(leaves) != len(gradients):
        return leaves, gradients
    pairs = [
        (leaf, gradient)
        for leaf, gradient in zip(leaves, gradients, strict=True)
        if gradient is not None or getattr(leaf, "trainable", True)
    ]
    return [leaf for leaf, _ in pairs], [gradient for _, gradient in pairs]


def _values_of(leaves: Sequence[Any]) -> list[Any]:
    import tensorflow as tf

    return [tf.convert_to_tensor(leaf) for leaf in leaves]


def _description(leaf: Any) -> tuple[str, tuple[int, ...], str]:
    import tensorflow as tf

    name = getattr(leaf, "path", None) or leaf.name
    return name, tuple(int(size) for size in leaf.shape), tf.as_dtype(leaf.dtype).name
