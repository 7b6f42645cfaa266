"""Gradients arranged like the model, or by path, found for each leaf."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from tfexplicit import containers
from tfexplicit.arrays import is_array, is_variable
from tfexplicit.hyperparameters import is_number
from tfexplicit.nested import flattened
from tfexplicit.paths import join, suggestion
from tfexplicit.ref import Ref
from tfexplicit.tree import Leaf, Node, Tree

CALL = "tx.update(opt_state, model, grads)"


def is_gradient(value: Any) -> bool:
    return (
        is_array(value)
        or isinstance(value, tf.IndexedSlices)
        or is_number(value)
        or is_variable(value)
    )


def by_leaf(tree: Tree, grads: Any) -> dict[int, list[Any]]:
    """All that is given for each leaf, by its index: one gradient per place of a tied leaf."""
    by_path = _by_path(tree, grads)
    if by_path is not None:
        return {index: [grad] for index, grad in by_path.items()}
    return _side_by_side(tree, grads)


def _side_by_side(tree: Tree, grads: Any) -> dict[int, list[Any]]:
    """Model and gradients walked together; each pair of containers once."""
    found: dict[int, list[Any]] = {}
    waiting: list[tuple[Node | Leaf | None, Any, str]] = [(tree.root, grads, "")]
    visited: set[tuple[int, int]] = set()
    while waiting:
        place, grad, path = waiting.pop()
        if place is None or grad is None:
            continue
        if isinstance(place, Leaf):
            found.setdefault(place.index, []).append(grad)
            continue
        if (id(place), id(grad)) in visited:
            continue
        visited.add((id(place), id(grad)))
        if place.is_module:
            waiting.extend(reversed(_of_module(place, grad, path)))
        else:
            waiting.extend(reversed(_of_container(place, grad, path)))
    return found


def _by_path(tree: Tree, grads: Any) -> dict[int, Any] | None:
    """`{path: grad}`, if that is what it is."""
    if not isinstance(grads, Mapping) or isinstance(tree.root, Leaf):
        return None
    if not all(value is None or is_gradient(value) for value in grads.values()):
        return None
    if isinstance(tree.root, Node) and not tree.root.is_module:
        named = list(zip(tree.root.names, tree.root.entries, strict=True))
        own = {name for name, entry in named if entry}
        # Shaped like the model, perhaps with None for what is not trained.
        if own <= set(map(str, grads)) <= set(tree.root.names):
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
        flat = dict(flattened(grads))
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


def _of_container(node: Node, grads: Any, path: str) -> Places:
    if isinstance(node.value, Ref):
        return [(node.entries[0], grads.value if isinstance(grads, Ref) else grads, path)]
    if containers.is_sequence(node.value):
        return _of_sequence(node, grads, path)
    if isinstance(grads, Mapping):
        given = {str(key): grad for key, grad in grads.items()}
    elif containers.is_container(grads) and isinstance(grads, type(node.value)):
        given = dict(containers.children(grads))
    else:
        raise _wrong_kind(node, grads, path)
    named = list(zip(node.names, node.entries, strict=True))
    trainable = {name: entry for name, entry in named if entry}
    static = {name for name, entry in named if not entry}
    _check_keys(trainable, {k: v for k, v in given.items() if k not in static}, path)
    return [(entry, given[name], join(path, name)) for name, entry in trainable.items()]


def _of_sequence(node: Node, grads: Any, path: str) -> Places:
    if not isinstance(grads, list | tuple):
        raise _wrong_kind(node, grads, path)
    if len(grads) != len(node.entries):
        raise ValueError(
            f"{path or 'the model'} has {len(node.entries)} entries, got {len(grads)} gradients."
        )
    return [
        (entry, grad, join(path, name))
        for name, entry, grad in zip(node.names, node.entries, grads, strict=True)
    ]


def _wrong_kind(node: Node, grads: Any, path: str) -> TypeError:
    return TypeError(
        f"at {path or 'the top'}: expected gradients shaped like {type(node.value).__name__}, a "
        f"list in the order of tx.trainables(model), or a {{path: gradient}} dict, got "
        f"{type(grads).__name__}. Write {CALL}."
    )
