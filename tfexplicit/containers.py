"""The containers a model may be made of: their children by name, and copies with other children."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Iterable, Mapping, MutableMapping
from typing import Any


def is_module(value: object) -> bool:
    """Keras models and layers, `tf.Module`, and anything else that lists its own leaves."""
    # Asked of the class first: an unbuilt tf_keras model raises when the attribute is read.
    # TensorFlow's own wrappers of lists and dicts have the attribute too, and are containers.
    return not isinstance(value, type | Mapping | list | tuple) and (
        hasattr(type(value), "trainable_variables") or hasattr(value, "trainable_variables")
    )


def is_unbuilt(value: object) -> bool:
    """True for a Keras model or layer that has not made its variables yet."""
    return is_module(value) and getattr(value, "built", True) is False


def listed_leaves(module: Any) -> list[Any]:
    """What the module trains, as it lists it."""
    try:
        return list(module.trainable_variables)
    except ValueError:
        # tf_keras refuses to list the variables of a model that has none yet.
        if is_unbuilt(module):
            return []
        raise


def is_namedtuple(value: object) -> bool:
    return isinstance(value, tuple) and hasattr(value, "_fields")


def is_dataclass(value: object) -> bool:
    return dataclasses.is_dataclass(value) and not isinstance(value, type)


def is_container(value: object) -> bool:
    return isinstance(value, Mapping | list | tuple) or is_dataclass(value)


def children(container: Any) -> list[tuple[str, Any]]:
    """`(name, child)` for every entry: key, index or field name."""
    if isinstance(container, Mapping):
        return [(str(key), child) for key, child in container.items()]
    if is_namedtuple(container):
        return list(zip(container._fields, container, strict=True))
    if isinstance(container, list | tuple):
        return [(str(index), child) for index, child in enumerate(container)]
    return [(field.name, getattr(container, field.name)) for field in _set_fields(container)]


def _set_fields(container: Any) -> Iterable[dataclasses.Field[Any]]:
    return (field for field in dataclasses.fields(container) if hasattr(container, field.name))


def is_mutable(container: object) -> bool:
    """False for tuples and read-only mappings, which must be made in one go."""
    return not isinstance(container, tuple | Mapping) or isinstance(container, MutableMapping)


def fill(shell: Any, values: list[Any]) -> None:
    """Give a copied list, dict or dataclass its new children, in the order of `children`."""
    if isinstance(shell, list):
        shell[:] = values
    elif isinstance(shell, Mapping):
        for key, value in zip(list(shell), values, strict=True):
            shell[key] = value  # type: ignore[index]
    else:
        for (name, _), value in zip(children(shell), values, strict=True):
            # `object.__setattr__` because a frozen dataclass is rebuilt too.
            object.__setattr__(shell, name, value)


def shell_of(container: Any) -> Any:
    return copy.copy(container)


def made_with(like: Any, values: list[Any]) -> Any:
    """A tuple or read-only mapping like this one, with other children."""
    if isinstance(like, Mapping):
        return type(like)(dict(zip(like, values, strict=True)))  # type: ignore[call-arg]
    return type(like)._make(values) if is_namedtuple(like) else type(like)(values)
