"""Gradients in any accepted form, put in the order of the leaves and checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from tfexplicit import containers
from tfexplicit.arrays import is_variable, raw, shape_of
from tfexplicit.hyperparameters import is_number
from tfexplicit.paths import join, suggestion
from tfexplicit.tree import Leaf, Node, Tree

CALL = "tx.update(opt_state, model, grads)"


def in_leaf_order(tree: Tree, grads: Any) -> list[Any]:
    """One gradient or None per leaf, as tensors of the leaf's dtype.

    Raises:
        TypeError: `(gradient, variable)` pairs, or something that is no gradient.
        ValueError: another length, shape or key than the model's.
    """
    _refuse_pairs(tree, grads)
    found: dict[int, Any] = {}
    if _is_flat_list(tree, grads):
        _check_count(tree, grads)
        for leaf, grad in zip(tree.leaves, grads, strict=True):
            found[leaf.index] = grad
    else:
        _walk(tree, grads, found)
    return [_checked(leaf, found.get(leaf.index)) for leaf in tree.leaves]


def is_gradient(value: Any) -> bool:
    return (
        isinstance(value, np.ndarray | tf.Tensor | tf.IndexedSlices)
        or is_number(value)
        or is_variable(value)
    )


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
    if len(grads) == len(tree.leaves) or not isinstance(tree.root, Node):
        return True
    return tree.root.is_module or len(tree.root.entries) != len(grads)


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


def _walk(tree: Tree, grads: Any, found: dict[int, Any]) -> None:
    """Model and gradients side by side; each pair of places once."""
    by_path = _by_path(tree, grads)
    if by_path is not None:
        found.update(by_path)
        return
    waiting: list[tuple[Node | Leaf | None, Any, str]] = [(tree.root, grads, "")]
    visited: set[tuple[int, int]] = set()
    while waiting:
        place, grad, path = waiting.pop()
        if place is None or grad is None or (id(place), id(grad)) in visited:
            continue
        visited.add((id(place), id(grad)))
        if isinstance(place, Leaf):
            # Tied leaves: the tape gives the whole gradient at every copy, so one is enough.
            found.setdefault(place.index, grad)
        elif place.is_module:
            waiting.extend(reversed(_of_module(place, grad, path)))
        else:
            waiting.extend(reversed(_of_container(place, grad, path)))


def _by_path(tree: Tree, grads: Any) -> dict[int, Any] | None:
    """`{path: grad}`, if that is what it is."""
    if not isinstance(grads, Mapping) or isinstance(tree.root, Leaf):
        return None
    if not all(value is None or is_gradient(value) for value in grads.values()):
        return None
    if isinstance(tree.root, Node) and not tree.root.is_module:
        own = {
            name for name, entry in zip(tree.root.names, tree.root.entries, strict=True) if entry
        }
        if own == set(map(str, grads)):
            return None
    known = {leaf.path: leaf.index for leaf in tree.leaves}
    _check_keys(known, grads, "")
    return {known[path]: grad for path, grad in grads.items()}


def _check_keys(known: Mapping[str, Any], grads: Mapping[Any, Any], path: str) -> None:
    for key in map(str, grads):
        if key not in known:
            raise ValueError(f"there is no leaf at {join(path, key)!r}. {suggestion(key, known)}")
    for key in known:
        if key not in grads:
            raise ValueError(
                f"no gradient for {join(path, key)!r}; give None there to leave it as it is."
            )


Places = list[tuple["Node | Leaf | None", Any, str]]


def _of_module(node: Node, grads: Any, path: str) -> Places:
    leaves = {name: leaf for name, leaf in zip(node.names, node.entries, strict=True) if leaf}
    if isinstance(grads, Mapping):
        flat = _flattened(grads)
        _check_keys(leaves, flat, path)
        return [(leaf, flat[name], join(path, name)) for name, leaf in leaves.items()]
    if isinstance(grads, list | tuple):
        if len(grads) != len(leaves):
            raise ValueError(
                f"{path or 'the model'} has {len(leaves)} leaves, got {len(grads)} gradients. "
                "Write grads = tape.gradient(loss, tx.trainables(model))."
            )
        named = zip(leaves.items(), grads, strict=True)
        return [(leaf, grad, join(path, name)) for (name, leaf), grad in named]
    raise _wrong_kind(node, grads, path)


def _flattened(grads: Mapping[Any, Any], path: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in grads.items():
        if isinstance(value, Mapping):
            flat.update(_flattened(value, join(path, str(key))))
        else:
            flat[join(path, str(key))] = value
    return flat


def _of_container(node: Node, grads: Any, path: str) -> Places:
    alike = (
        (isinstance(node.value, Mapping) and isinstance(grads, Mapping))
        or (isinstance(node.value, list | tuple) and isinstance(grads, list | tuple))
        or (containers.is_dataclass(node.value) and containers.is_dataclass(grads))
    )
    if not alike:
        raise _wrong_kind(node, grads, path)
    given = dict(containers.children(grads))
    trainable = {name: entry for name, entry in zip(node.names, node.entries, strict=True) if entry}
    if isinstance(node.value, Mapping):
        extra = {name: None for name in node.names if name not in trainable}
        _check_keys(trainable, {k: v for k, v in given.items() if k not in extra}, path)
    elif len(given) != len(node.entries):
        raise ValueError(
            f"{path or 'the model'} has {len(node.entries)} entries, got {len(given)} gradients."
        )
    ordered = list(given.values()) if not isinstance(node.value, Mapping) else None
    return [
        (entry, ordered[place] if ordered else given.get(name), join(path, name))
        for place, (name, entry) in enumerate(zip(node.names, node.entries, strict=True))
    ]


def _wrong_kind(node: Node, grads: Any, path: str) -> TypeError:
    return TypeError(
        f"at {path or 'the top'}: expected gradients shaped like {type(node.value).__name__}, a "
        f"list in the order of tx.trainables(model), or a {{path: gradient}} dict, got "
        f"{type(grads).__name__}. Write {CALL}."
    )


def _checked(leaf: Leaf, grad: Any) -> Any:
    """A tensor or `IndexedSlices` of the leaf's dtype and shape, or None."""
    if grad is None:
        return None
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


def dense(grad: Any) -> Any:
    """With the rows of repeated ids added up, which a rule that is not linear depends on."""
    return tf.convert_to_tensor(grad)
