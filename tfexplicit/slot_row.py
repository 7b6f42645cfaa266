"""A slot of a small leaf: a row of a variable that it shares with leaves like it."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import tensorflow as tf

# Of a variable in a checkpoint: a row is saved as the variable that it stands for would be.
_SAVED_AS = "VARIABLE_VALUE"


class SlotRow(tf.__internal__.tracking.Trackable):  # type: ignore[misc]
    """Reads and is assigned like a variable; converts to a tensor, and to an ndarray."""

    def __init__(self, stack: Any, row: int, scratch: Any) -> None:
        self.stack = stack
        self.row = row
        # A variable of the form of `stack`, in which an op leaves its result for a moment.
        self.scratch = scratch

    @property
    def shape(self) -> tf.TensorShape:
        return self.stack.shape[1:]

    @property
    def dtype(self) -> tf.DType:
        return self.stack.dtype

    @property
    def trainable(self) -> bool:
        return False

    @property
    def name(self) -> str:
        return f"{self.stack.name}[{self.row}]"

    @property
    def device(self) -> str:
        return str(self.stack.device)

    def value(self) -> Any:
        return self.read_value()

    def read_value(self) -> Any:
        return self.stack[self.row]

    def numpy(self) -> Any:
        return self.read_value().numpy()

    def assign(self, value: Any, read_value: bool = True) -> Any:
        """Other rows stay as they are.

        Raises:
            ValueError: a value of another shape.
        """
        value = tf.convert_to_tensor(value, self.dtype)
        if not value.shape.is_compatible_with(self.shape):
            raise ValueError(f"the slot has shape {self.shape}, got a value of shape {value.shape}")
        tf.raw_ops.ResourceStridedSliceAssign(
            ref=self.stack.handle,
            begin=[self.row],
            end=[self.row + 1],
            strides=[1],
            value=value,
            shrink_axis_mask=1,
        )
        return self.read_value() if read_value else None

    def assign_add(self, delta: Any, read_value: bool = True) -> Any:
        return self.assign(self.read_value() + delta, read_value)

    def assign_sub(self, delta: Any, read_value: bool = True) -> Any:
        return self.assign(self.read_value() - delta, read_value)

    def __len__(self) -> int:
        return int(self.shape[0])

    def __iter__(self) -> Iterator[Any]:
        return iter(self.read_value())

    def __tf_tensor__(self, dtype: Any = None, name: str | None = None) -> Any:
        value = self.read_value()
        return value if dtype is None else tf.cast(value, dtype)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.asarray(self.numpy(), dtype)

    def __deepcopy__(self, memo: dict[int, Any]) -> SlotRow:
        stack, scratch = (copy.deepcopy(each, memo) for each in (self.stack, self.scratch))
        return SlotRow(stack, self.row, scratch)

    def __repr__(self) -> str:
        return f"<slot shape={tuple(self.shape)} dtype={self.dtype.name}>"

    def _serialize_to_tensors(self) -> dict[str, Any]:
        return {_SAVED_AS: self.read_value()}

    def _restore_from_tensors(self, restored: Mapping[str, Any]) -> None:
        self.assign(restored[_SAVED_AS], read_value=False)

    def _copy_trackable_to_cpu(self, object_map: dict[Any, Any]) -> None:
        """For a checkpoint that is written while training goes on."""
        self.stack._copy_trackable_to_cpu(object_map)
        object_map.setdefault(self, SlotRow(object_map[self.stack], self.row, self.scratch))


def _of_tensors(operator: str) -> Any:
    def apply(row: SlotRow, *others: Any) -> Any:
        return getattr(row.read_value(), operator)(*others)

    return apply


# Arithmetic and slicing, as variables have them; equality stays that of objects.
for _operator in tf.Tensor.OVERLOADABLE_OPERATORS - {"__eq__", "__ne__"}:
    setattr(SlotRow, _operator, _of_tensors(_operator))
