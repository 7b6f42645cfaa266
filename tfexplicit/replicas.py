"""A step inside `strategy.run`: gradients summed first, variables changed on every replica."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import tensorflow as tf

from tfexplicit.arrays import is_variable, raw, read
from tfexplicit.writing import Writer


def in_replicas() -> bool:
    """True in code that several replicas run in step."""
    context = tf.distribute.get_replica_context()
    return context is not None and context.num_replicas_in_sync > 1


def summed(grads: Sequence[Any]) -> list[Any]:
    """Over all replicas, as Keras does; so what clips sees the gradient of the whole batch."""
    context = tf.distribute.get_replica_context()
    total: list[Any] = context.all_reduce(tf.distribute.ReduceOp.SUM, list(grads))
    return total


@dataclass(frozen=True)
class ReplicaWriter(Writer):
    """Holds the assignments back until `flush`: a replica alone must not assign."""

    # Variables, and what they are assigned: a tensor, or `IndexedSlices` for some of the rows.
    pending: list[tuple[Any, Any]] = field(default_factory=list)

    def put(self, cell: Any, value: Any) -> Any:
        if self.in_place and is_variable(cell):
            self.pending.append((raw(cell), value))
            return cell
        return value

    def put_rows(self, cell: Any, ids: Any, rows: Any) -> Any:
        if self.in_place and is_variable(cell):
            return self.put(cell, tf.IndexedSlices(rows, ids))
        return super().put_rows(cell, ids, rows)

    def move(self, leaf: Any, subtract: Any, constrain: Callable[[Any], Any] | None) -> Any:
        moved = read(leaf) - subtract
        return self.put(leaf, moved if constrain is None else constrain(moved))

    def flush(self) -> None:
        """Assign on all replicas, which have all computed the same values."""
        variables = [variable for variable, _ in self.pending]

        def assign_all(strategy: Any, values: Sequence[Any]) -> None:
            for variable, value in zip(variables, values, strict=True):
                strategy.extended.update(variable, _assign, args=(value,), group=False)

        tf.__internal__.distribute.interim.maybe_merge_call(
            assign_all, tf.distribute.get_strategy(), [value for _, value in self.pending]
        )


def _assign(local: Any, value: Any) -> Any:
    if isinstance(value, tf.IndexedSlices):
        return local.scatter_update(value)
    return local.assign(value, read_value=False)
