"""Records updates, eager or inside a `tf.function`, in the order in which they run."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

from tfexplicit_codemod.verify.limit import Limit
from tfexplicit_codemod.verify.losses import Losses
from tfexplicit_codemod.verify.owners import Owners
from tfexplicit_codemod.verify.record_file import RecordFile
from tfexplicit_codemod.verify.usage import peak_memory
from tfexplicit_codemod.verify.variables import Variables

# The files that the process has loaded: of the copy, and of the original.
Loaded = Callable[[], tuple[list[str], list[str]]]


class Recorder:
    """Writes the record of this process; see `records` for its format."""

    def __init__(self, records: Path, loaded: Loaded, steps: int | None = None) -> None:
        self.losses = Losses()
        self.variables = Variables()
        self.limit = Limit(steps, records)
        self._owners = Owners()
        self._loaded = loaded
        self._file = RecordFile(records)
        self._groups: dict[tuple[Any, ...], int] = {}
        self._thread = threading.local()
        # Programs train in several threads too.
        self._numbering = threading.Lock()

    def note(self, text: str) -> None:
        self._file.write(kind="note", text=text)

    def end(self) -> None:
        """The last values, of the leaves and of what the layers keep, unless the program was cut
        short, and what the process has loaded."""
        if not self.limit.is_reached:
            self._write_last_values()
        self._write_usage(ended=True)

    @contextmanager
    def around_update(
        self, leaves: Sequence[Any], gradients: Sequence[Any], owner: Any
    ) -> Iterator[None]:
        """Wraps one update of the leaves. An update inside another is part of that other one.

        No gradients at all: Keras does nothing then, so nothing is recorded. `owner` is the
        optimizer, or the state of a rule.
        """
        self.limit.end_if_reached()
        leaves, gradients = _trained(leaves, gradients)
        depth = getattr(self._thread, "depth", 0)
        recording = depth == 0 and bool(gradients)
        before = _values_of(leaves) if recording else []
        self._thread.depth = depth + 1
        try:
            yield
        finally:
            self._thread.depth = depth
        if recording:
            self._record(list(leaves), before, list(gradients), owner)
            self.limit.end_if_reached()

    def _record(
        self, leaves: list[Any], before: list[Any], gradients: list[Any], owner: Any
    ) -> None:
        """Reads the leaves and writes the record: now, or each time the graph being traced runs."""
        import tensorflow as tf

        from tfexplicit_codemod.verify.digest import digest_of
        from tfexplicit_codemod.verify.gradients import inputs_of, norms_and_sums

        with self._numbering:
            state = self.variables.layer_state()
            group = self._group_of(leaves, state, self._owners.number_of(owner))
            number = self._next_index()
        values, kept = _values_of(leaves), _values_of(state)
        tensors, losses = inputs_of(gradients), self.losses.taken_for(leaves)

        def write(index: Any, *arrays: Any) -> None:
            self.limit.end_if_reached()
            inputs = iter(arrays)
            loss = [float(next(inputs)) for _ in losses]
            steps = [(next(inputs), next(inputs)) for _ in values]
            states = [next(inputs) for _ in kept]
            self._file.write(
                kind="update",
                index=int(index),
                group=group,
                loss=loss[0] if loss else None,
                gradients=norms_and_sums(inputs, gradients),
                leaves=[digest_of(value, old) for value, old in steps],
                state=[digest_of(value, value) for value in states],
            )
            self._count(int(index))

        pairs = [each for pair in zip(values, before, strict=True) for each in pair]
        tf.numpy_function(write, [number, *losses, *pairs, *kept, *tensors], [])

    def _count(self, updates: int) -> None:
        is_last = self.limit.count(updates)
        if updates == 1 or is_last:
            # Now, since a process that was forked runs no exit handlers of Python.
            self._write_usage(ended=is_last)

    def _write_usage(self, *, ended: bool) -> None:
        loaded, outside = self._loaded()
        self._file.write(
            kind="usage",
            loaded=loaded,
            outside=outside,
            peak_memory=peak_memory(),
            ended=ended,
            cut_short=self.limit.is_reached,
        )

    def _write_last_values(self) -> None:
        tensorflow = sys.modules.get("tensorflow")
        variables = self.variables.alive()
        if tensorflow is None or not variables or not tensorflow.executing_eagerly():
            return
        from tfexplicit_codemod.verify.digest import digest_of

        values = [value.numpy() for value in _values_of(variables)]
        self._file.write(
            kind="values",
            variables=self._descriptions(variables),
            digests=[digest_of(value, value) for value in values],
        )

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

    def _group_of(self, leaves: list[Any], state: list[Any], owner: tuple[int, str]) -> int:
        described = [self._descriptions(each) for each in (leaves, state)]
        key = (repr(described), owner)
        if key not in self._groups:
            self._groups[key] = len(self._groups)
            self._file.write(
                kind="group",
                group=self._groups[key],
                leaves=described[0],
                state=described[1],
                owner=owner,
            )
        return self._groups[key]

    def _descriptions(self, variables: Sequence[Any]) -> list[tuple[str, int, list[int], str]]:
        import tensorflow as tf

        return [
            (
                *self.variables.key_of(variable),
                [int(size) for size in variable.shape],
                tf.as_dtype(variable.dtype).name,
            )
            for variable in variables
        ]


def _trained(
    leaves: Sequence[Any], gradients: Sequence[Any]
) -> tuple[Sequence[Any], Sequence[Any]]:
    """Without the variables that are not trainable and have no gradient.

    An update passes over them, so it is the same whether they are named (`model.variables`) or not.
    Arrays that are no variables are left out too: the stepped ones are others.
    """
    if len(leaves) != len(gradients):
        return leaves, gradients
    pairs = [
        (leaf, gradient)
        for leaf, gradient in zip(leaves, gradients, strict=True)
        if hasattr(leaf, "assign") and (gradient is not None or getattr(leaf, "trainable", True))
    ]
    return [leaf for leaf, _ in pairs], [gradient for _, gradient in pairs]


def _values_of(leaves: Sequence[Any]) -> list[Any]:
    import tensorflow as tf

    return [tf.convert_to_tensor(leaf) for leaf in leaves]
