"""Gradients in any accepted form, put in the order of the leaves and checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from tfexplicit import containers
from tfexplicit.arrays import is_variable, raw, shape_of
from tfexplicit.gradient_places import CALL, by_leaf, is_gradient
from tfexplicit.hyperparameters import is_number
from tfexplicit.ref import Ref
from tfexplicit.tied import Tied, added_up, the_one_gradient
from tfexplicit.tree import Leaf, Node, Tree


def in_leaf_order(tree: Tree, grads: Any, tied: Tied = "total") -> list[Any]:
    """One gradient or None per leaf, as tensors of the leaf's dtype.

    `tied` says what the gradients at several places of one leaf are: each the whole gradient, as a
    tape gives it, or parts to be added up.

    Raises:
        TypeError: `(gradient, variable)` pairs, or something that is no gradient.
        ValueError: another length, shape or key than the model's, or other values at the places of
            a tied leaf.
    """
    _refuse_pairs(tree, grads)
    if _is_flat_list(tree, grads):
        _check_count(tree, grads)
        return [_checked(leaf, grad) for leaf, grad in zip(tree.leaves, grads, strict=True)]
    found = by_leaf(tree, grads)
    return [_of_leaf(leaf, found.get(leaf.index, []), tied) for leaf in tree.leaves]


def _refuse_pairs(tree: Tree, grads: Any) -> None:
    leaves = {id(raw(leaf.value)) for leaf in tree.leaves}
    pairs = isinstance(grads, zip) or (
        isinstance(grads, Sequence)
        and len(grads) > 0
        and all(_is_pair(pair, leaves) for pair in grads)
    )
    if pairs:
        raise TypeError(
            "update takes the gradients alone, got (gradient, variable) pairs; the model is "
            f"an argument of its own. Write {CALL} with "
            "grads = tape.gradient(loss, tx.trainables(model))."
        )


def _is_pair(value: Any, leaves: set[int]) -> bool:
    """`(gradient, variable)`; two variables may be gradients that were added up in them."""
    if not isinstance(value, list | tuple) or len(value) != 2 or not is_variable(value[1]):
        return False
    return id(raw(value[1])) in leaves or not is_variable(value[0])


def _is_flat_list(tree: Tree, grads: Any) -> bool:
    """A plain list of gradients; also where the model is a list whose entries are all leaves."""
    if not isinstance(grads, list | tuple) or containers.is_namedtuple(grads):
        return False
    if not all(grad is None or is_gradient(grad) for grad in grads):
        return False
    root = tree.root
    while isinstance(root, Node) and isinstance(root.value, Ref):
        root = root.entries[0]
    if len(grads) == len(tree.leaves) or not isinstance(root, Node):
        return True
    return root.is_module or len(root.entries) != len(grads)


def _check_count(tree: Tree, grads: Sequence[Any]) -> None:
    if len(grads) == len(tree.leaves):
        return
    pairs = zip(tree.leaves, grads, strict=False)
    odd = [leaf for leaf, grad in pairs if grad is not None and not _fits(leaf, grad)]
    where = ""
    if odd:
        where = f" The first that does not fit is at {odd[0].path!r}, {shape_of(odd[0].value)}."
    elif len(grads) < len(tree.leaves):
        where = f" None is left for {tree.leaves[len(grads)].path!r}."
    raise ValueError(
        f"the model has {len(tree.leaves)} leaves, got {len(grads)} gradients.{where} "
        "Write grads = tape.gradient(loss, tx.trainables(model))."
    )


def _fits(leaf: Leaf, grad: Any) -> bool:
    return bool(
        tf.TensorShape(shape_of(leaf.value)).is_compatible_with(tf.TensorShape(np.shape(grad)))
    )


def _of_leaf(leaf: Leaf, given: Sequence[Any], tied: Tied) -> Any:
    """The one gradient of a leaf, from those given at all its places."""
    if tied == "total":
        given = list({id(grad): grad for grad in given}.values())
    checked = [_checked(leaf, grad) for grad in given]
    if len(checked) < 2:
        return checked[0] if checked else None
    return added_up(checked) if tied == "sum" else the_one_gradient(leaf.path, checked)


def _is_alike(leaf: Leaf, grad: Any) -> bool:
    """Of most gradients this is all that there is to look at, at every eager step."""
    value = raw(leaf.value)
    is_dense = isinstance(grad, tf.Tensor) and isinstance(value, tf.Variable)
    return is_dense and grad.dtype == value.dtype and grad.shape == value.shape


def _checked(leaf: Leaf, grad: Any) -> Any:
    """A tensor or `IndexedSlices` of the leaf's dtype and shape, or None."""
    if grad is None or _is_alike(leaf, grad):
        return grad
    if not is_gradient(grad):
        raise TypeError(
            f"the gradient of {leaf.path!r} must be a tensor or None, got {type(grad).__name__}."
        )
    dtype = tf.as_dtype(raw(leaf.value).dtype)
    if not isinstance(grad, tf.Tensor | tf.IndexedSlices):
        grad = tf.convert_to_tensor(raw(grad), dtype if is_number(grad) else None)
    if grad.dtype.is_complex and not dtype.is_complex:
        raise TypeError(
            f"the gradient of {leaf.path!r} is {grad.dtype.name}, the leaf {dtype.name}."
        )
    expected = tf.TensorShape(shape_of(leaf.value))
    if not grad.shape.is_compatible_with(expected):
        raise ValueError(
            f"the gradient of {leaf.path!r} has shape {tuple(grad.shape)}, the leaf has shape "
            f"{tuple(expected)}. Gradients go in the order of tx.trainables(model)."
        )
    return grad if grad.dtype == dtype else tf.cast(grad, dtype)
