"""All values of a model by path: what it trains, and statistics, seeds and other variables too."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

from tfexplicit import containers
from tfexplicit.arrays import dtype_name, is_array, is_variable, raw, read, shape_of
from tfexplicit.module_names import leaf_names, numbered_where_repeated
from tfexplicit.modules import listed_variables
from tfexplicit.nested import flattened
from tfexplicit.paths import join, suggestion
from tfexplicit.tree import Node, Tree


@dataclass(frozen=True, eq=False)
class Value:
    """A leaf, or a variable that is not trained."""

    path: str
    value: Any
    trainable: bool


def values_of(tree: Tree) -> list[Value]:
    """The leaves in `trainables` order, then the other variables; each once."""
    seen = {id(raw(leaf.value)) for leaf in tree.leaves}
    others: list[tuple[str, Any]] = []
    for node in reversed(tree.nodes):
        for name, variable in _not_trained(node):
            if id(raw(variable)) not in seen:
                seen.add(id(raw(variable)))
                others.append((join(node.path, name), variable))
    found = [(leaf.path, leaf.value) for leaf in tree.leaves] + others
    paths = numbered_where_repeated([path for path, _ in found])
    return [
        Value(path, value, number < len(tree.leaves))
        for number, (path, (_, value)) in enumerate(zip(paths, found, strict=True))
    ]


def _not_trained(node: Node) -> Iterable[tuple[str, Any]]:
    if not node.is_module:
        named = containers.children(node.value)
        return [(name, child) for name, child in named if is_variable(child)]
    own = [entry.value for entry in node.entries if entry is not None]
    trained = {id(raw(value)) for value in own}
    others = [
        variable for variable in listed_variables(node.value) if id(raw(variable)) not in trained
    ]
    # Named after the leaves, so that these keep the names that they have elsewhere.
    return zip(leaf_names(node.value, [*own, *others])[len(own) :], others, strict=True)


def given_values(verb: str, values: Sequence[Value], params: Any) -> dict[int, Any]:
    """The tensors that `params` has for these values, by their number; all checked.

    `params` holds the trainable values, the others, or both; a tuple of such dicts is one.
    """
    flat = _by_path(verb, params)
    known = {value.path: value for value in values}
    for path in flat:
        if path not in known:
            raise ValueError(f"{verb}: the model has no {path!r}. {suggestion(path, known)}")
    for kind in (True, False):
        paths = [value.path for value in values if value.trainable is kind]
        missing = [path for path in paths if path not in flat]
        if missing and (len(missing) < len(paths) or not flat):
            raise ValueError(
                f"{verb}: no value for {', '.join(map(repr, missing))}. Give all "
                f"{'trainable' if kind else 'non-trainable'} values of the model, as "
                f"tx.params(model, trainable={kind}) has them."
            )
    return {
        number: _fitting(verb, value, flat[value.path])
        for number, value in enumerate(values)
        if value.path in flat
    }


def _by_path(verb: str, params: Any) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for part in params if isinstance(params, tuple | list) else (params,):
        if not isinstance(part, Mapping):
            raise TypeError(
                f"{verb}: the values must be a nested dict by path such as tx.params(model) "
                f"returns, or a tuple of such dicts, got {type(part).__name__}."
            )
        for path, value in flattened(part):
            if path in flat:
                raise ValueError(f"{verb}: {path!r} is given twice.")
            flat[path] = value
    return flat


def _fitting(verb: str, value: Value, given: Any) -> Any:
    if not (is_array(given) or is_variable(given) or isinstance(given, np.generic)):
        raise TypeError(
            f"{verb}: the value of {value.path!r} must be a tensor or ndarray, got "
            f"{type(given).__name__}."
        )
    if dtype_name(given) != dtype_name(value.value):
        raise TypeError(
            f"{verb}: {value.path!r} is {dtype_name(value.value)}, got {dtype_name(given)}."
        )
    expected = tf.TensorShape(shape_of(value.value))
    if not tf.TensorShape(shape_of(given)).is_compatible_with(expected):
        raise ValueError(
            f"{verb}: {value.path!r} has shape {tuple(expected)}, got {shape_of(given)}."
        )
    return read(given)
