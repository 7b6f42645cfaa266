"""What counts as a variable, an array and a leaf, for TensorFlow, Keras 3 and tf_keras alike."""

from __future__ import annotations

import math
from functools import cache, singledispatch
from typing import Any

import numpy as np
import tensorflow as tf

from tfexplicit.slot_row import SlotRow


def is_variable(value: object) -> bool:
    """True for `tf.Variable` and for a Keras 3 variable, which TensorFlow knows by this mark."""
    return isinstance(value, tf.Variable | SlotRow) or hasattr(
        value, "_should_act_as_resource_variable"
    )


def expect_tensorflow(value: object) -> None:
    """
    Raises:
        TypeError: a variable of Keras on JAX or PyTorch, which TensorFlow cannot assign.
    """
    kind: Any = type(value)
    backend = _other_backend(kind)
    if backend is not None:
        raise TypeError(
            f"got a variable of Keras on the {backend} backend, and tfexplicit steps those of "
            'TensorFlow. Set os.environ["KERAS_BACKEND"] = "tensorflow" before Keras is imported, '
            "or keep optimizer.apply there."
        )


@cache
def _other_backend(kind: type) -> str | None:
    """The backend of a Keras variable that is none of TensorFlow's. Every leaf asks, every step."""
    modules = [base.__module__ for base in kind.__mro__]
    is_keras = "keras.src.backend.common.variables" in modules
    if not is_keras or hasattr(kind, "_should_act_as_resource_variable"):
        return None
    return next(each.split(".")[3] for each in modules if each.endswith(".core"))


def raw(value: Any) -> Any:
    """The `tf.Variable` inside a Keras 3 variable; anything else as it is."""
    if isinstance(value, tf.Variable | SlotRow) or not is_variable(value):
        return value
    inner = value.value
    # Inside a layer's autocast scope Keras hands out a cast tensor instead of its variable.
    return inner if isinstance(inner, tf.Variable) else value._value


def read(value: Any) -> Any:
    """The value as a tensor."""
    return tf.convert_to_tensor(raw(value))


def is_overwritten(value: Any) -> bool:
    """True for a Keras 3 variable that takes its gradient as its next value: a scale of float8."""
    return bool(getattr(value, "overwrite_with_gradient", False))


@singledispatch
def is_mutable(value: Any) -> bool:
    """True if `update` writes to this array in place; False if it gives back a new one.

    Variables are written to, tensors and ndarrays are not. Decide for another type with
    `@tx.is_mutable.register(MyArray)` above a function from an instance to a bool: that also makes
    it a leaf. It needs `shape`, a numpy or TensorFlow `dtype` and `__array__`, and to be written to
    `array[...] = ndarray`; one that is not is replaced by a tensor.
    """
    return is_variable(value)


_UNDECLARED = is_mutable.dispatch(object)


def is_array(value: object) -> bool:
    return isinstance(value, np.ndarray | tf.Tensor) or (
        is_mutable.dispatch(value.__class__) is not _UNDECLARED
    )


def is_leaf(value: Any) -> bool:
    """Trainable: a variable that says so, or a tensor or ndarray of float or complex numbers."""
    if is_variable(value):
        return bool(value.trainable) and is_inexact(value)
    return is_array(value) and is_inexact(value)


def is_inexact(value: Any) -> bool:
    dtype = tf.as_dtype(value.dtype) if _has_tensorflow_dtype(value) else None
    return dtype is not None and (dtype.is_floating or dtype.is_complex)


def _has_tensorflow_dtype(value: Any) -> bool:
    """An ndarray of objects, strings or records has no TensorFlow dtype."""
    return not isinstance(value, np.ndarray) or value.dtype.kind in "fciub" or _is_extended(value)


def _is_extended(value: np.ndarray[Any, Any]) -> bool:
    """bfloat16 and float8 are kind `V` in numpy, as records are."""
    return value.dtype.kind == "V" and value.dtype.fields is None and value.dtype.shape == ()


def shape_of(value: Any) -> tuple[int | None, ...]:
    return tuple(raw(value).shape)


def dtype_name(value: Any) -> str:
    return str(tf.as_dtype(raw(value).dtype).name)


def size_in_bytes(value: Any) -> int:
    return math.prod(length or 0 for length in shape_of(value)) * int(
        tf.as_dtype(raw(value).dtype).size
    )


def constraint_of(leaf: Any) -> Any:
    """The variable's own `constraint`, which Keras applies after each step."""
    return getattr(leaf, "constraint", None) if is_variable(leaf) else None
