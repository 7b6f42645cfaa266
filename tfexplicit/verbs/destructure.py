"""`destructure`: the leaves of a model as one vector, and back."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import tensorflow as tf

from tfexplicit.arguments import refuse_as_model
from tfexplicit.arrays import raw, read, shape_of
from tfexplicit.rebuild import with_leaves
from tfexplicit.tree import Leaf, Tree, parse
from tfexplicit.unconverted import unconverted


@unconverted
def destructure(model: Any) -> tuple[Any, Rebuild]:
    """`(flat, rebuild)`: one vector of all leaves in `trainables` order, and its inverse.

    `flat` has the smallest dtype that holds every leaf: complex if one is, float32 for float16
    beside bfloat16. A leaf that is found at several places is there once. A model without leaves
    gives an empty vector of bool, which promotes no other when joined to it.

    Both directions can be differentiated through, also twice.

    Raises:
        TypeError: a state or a rule in place of the model.
        ValueError: a leaf whose shape is not known.
    """
    refuse_as_model("destructure", model)
    tree = parse(model)
    rebuild = Rebuild(model, tree)
    dtype = _common_dtype(tf.as_dtype(raw(leaf.value).dtype) for leaf in tree.leaves)
    parts = [
        tf.reshape(_converted(read(leaf.value), dtype), [length])
        for leaf, length in zip(tree.leaves, rebuild.lengths, strict=True)
    ]
    return tf.concat(parts, 0) if parts else tf.zeros([0], dtype), rebuild


class Rebuild:
    """The model again from a vector; `len(rebuild)` is the length that it takes."""

    def __init__(self, model: Any, tree: Tree) -> None:
        self._model = model
        self._tree = tree
        self.lengths = [_length(leaf) for leaf in tree.leaves]

    def __len__(self) -> int:
        return sum(self.lengths)

    @unconverted
    def __call__(self, flat: Any) -> Any:
        """The model with these values at its leaves, as tensors of the leaves' dtypes.

        As from `updated`: containers keep their type and what is not trained, and a Keras model or
        `tf.Module` becomes a nested dict of its leaves by path, which `functional_call` and
        `assign` take. What was one array is one array again. Nothing is written to the model.

        Args:
            flat: a vector of `len(self)` numbers, of any dtype: tensor, variable, ndarray or list.

        Raises:
            ValueError: another length or rank.
        """
        flat = tf.convert_to_tensor(raw(flat))
        if not flat.shape.is_compatible_with([len(self)]):
            got = f"of length {flat.shape[0]}" if flat.shape.rank == 1 else f"{flat.shape}"
            raise ValueError(f"rebuild expected a vector of length {len(self)}, got one {got}.")
        # The length may be known only when a tf.function runs.
        parts = tf.split(tf.ensure_shape(flat, [len(self)]), self.lengths) if self.lengths else []
        values = [
            _converted(tf.reshape(part, shape_of(leaf.value)), tf.as_dtype(raw(leaf.value).dtype))
            for leaf, part in zip(self._tree.leaves, parts, strict=True)
        ]
        return with_leaves(self._tree, values, self._model)


def _length(leaf: Leaf) -> int:
    shape = shape_of(leaf.value)
    known = [size for size in shape if size is not None]
    if len(known) < len(shape):
        raise ValueError(f"destructure: the shape of {leaf.path!r} is not known: {shape}.")
    return math.prod(known)


def _common_dtype(dtypes: Iterable[Any]) -> Any:
    found = set(dtypes)
    if len(found) <= 1:
        return next(iter(found), tf.bool)
    is_double = bool(found & {tf.float64, tf.complex128})
    if any(dtype.is_complex for dtype in found):
        return tf.complex128 if is_double else tf.complex64
    return tf.float64 if is_double else tf.float32


def _converted(value: Any, dtype: Any) -> Any:
    """A cast whose gradient is right between real and complex numbers."""
    if value.dtype.is_complex and not dtype.is_complex:
        return tf.cast(tf.math.real(value), dtype)
    if dtype.is_complex and not value.dtype.is_complex:
        real = tf.cast(value, dtype.real_dtype)
        return tf.complex(real, tf.zeros_like(real))
    return tf.cast(value, dtype)
