"""The containers a model may be made of: their children by name, and copies with other children."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import dataclass
from functools import singledispatch
from typing import Any

from tfexplicit import fields, ref

Children = list[tuple[str, Any]]


@dataclass(frozen=True)
class Kind:
    """What is known about a type of container. `values` come in the order of `children`."""

    children: Callable[[Any], Children]
    # Gives a shell its children, which lets a cycle close. Without it `made_with` is used.
    fill: Callable[[Any, list[Any]], None] | None = None
    shell: Callable[[Any], Any] = copy.copy
    # A new container like the given one, in one go.
    made_with: Callable[[Any, list[Any]], Any] | None = None
    # For `update`: gives the container itself other children.
    write: Callable[[Any, list[Any]], None] | None = None
    # How values of another sort, such as gradients, are arranged like the container.
    mirror: Kind | None = None


@singledispatch
def kind_of(value: Any) -> Kind | None:
    """By the type and its bases, so that a subclass is what its base is; None for no container."""
    return _FIELDS if fields.has_fields(value) else None


def is_module(value: object) -> bool:
    """Keras models and layers, `tf.Module`, and anything else that lists its own leaves."""
    # TensorFlow's own wrappers of lists and dicts have the attribute too, and are containers.
    if isinstance(value, type) or _has_kind(value):
        return False
    # Asked of the class first: an unbuilt tf_keras model raises when the attribute is read.
    return hasattr(type(value), "trainable_variables") or hasattr(value, "trainable_variables")


def is_container(value: object) -> bool:
    return _has_kind(value) or (fields.has_fields(value) and not is_module(value))


def _has_kind(value: object) -> bool:
    return kind_of.dispatch(value.__class__) is not _UNKNOWN


def known_kind(container: Any) -> Kind:
    kind: Kind | None = kind_of(container)
    if kind is None:
        raise TypeError(f"a {type(container).__name__} is no container.")
    return kind


def children(container: Any) -> Children:
    """`(name, child)` for every entry: key, index or field name."""
    return known_kind(container).children(container)


def trained_children(container: Any) -> Children:
    """`children`, with None for those that the class does not train.

    Raises:
        ValueError: the class says that it trains a field which it does not have.
    """
    entries = children(container)
    declared = fields.declared_trained(container)
    if declared is None:
        return entries
    for name in declared:
        if name not in dict(entries):
            raise ValueError(
                f"{type(container).__name__} declares the trainable field {name!r} and has "
                f"{', '.join(repr(name) for name, _ in entries) or 'no fields'}. Correct the names "
                "in tx.trainable_fields."
            )
    return [(name, child if name in declared else None) for name, child in entries]


def is_sequence(value: object) -> bool:
    """A list or tuple, unless its type is registered to be walked in another way."""
    return known_kind(value).children is _of_sequence


def is_namedtuple(value: object) -> bool:
    return isinstance(value, tuple) and hasattr(value, "_fields")


def _of_mapping(value: Mapping[Any, Any]) -> Children:
    return [(str(key), child) for key, child in value.items()]


def _fill_mapping(shell: MutableMapping[Any, Any], values: list[Any]) -> None:
    for key, value in zip(list(shell), values, strict=True):
        shell[key] = value


def _mapping_with(like: Any, values: list[Any]) -> Any:
    return type(like)(dict(zip(like, values, strict=True)))


def _of_sequence(value: Any) -> Children:
    names = value._fields if is_namedtuple(value) else map(str, range(len(value)))
    return list(zip(names, value, strict=True))


def _fill_list(shell: list[Any], values: list[Any]) -> None:
    shell[:] = values


def _tuple_with(like: Any, values: list[Any]) -> Any:
    return type(like)._make(values) if is_namedtuple(like) else type(like)(values)


def by_name(children: Callable[[Any], Children]) -> Kind:
    """Made into a plain dict."""
    return Kind(
        children, fill=_fill_mapping, shell=lambda value: dict.fromkeys(dict(children(value)))
    )


def register_kind(cls: type, kind: Kind) -> None:
    kind_of.register(cls, lambda value: kind)


_FIELDS = Kind(fields.children, fill=fields.fill)
_UNKNOWN = kind_of.dispatch(object)
register_kind(Mapping, Kind(_of_mapping, made_with=_mapping_with))
register_kind(MutableMapping, Kind(_of_mapping, fill=_fill_mapping))
register_kind(list, Kind(_of_sequence, fill=_fill_list))
register_kind(tuple, Kind(_of_sequence, made_with=_tuple_with))
register_kind(
    ref.Ref,
    Kind(
        ref.children,
        made_with=ref.made_with,
        write=ref.write,
        mirror=Kind(ref.children, made_with=lambda like, values: values[0]),
    ),
)
