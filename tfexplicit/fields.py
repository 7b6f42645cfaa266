"""Objects made of named fields: dataclasses, attrs classes, classes that declare some trained."""

from __future__ import annotations

import dataclasses
from typing import Any

# Where `trainable_fields` leaves a mark on a class; subclasses inherit it.
MARK = "_tfexplicit_trainable_fields"


def declared_trained(value: Any) -> tuple[str, ...] | None:
    """The fields that the class of `value` says are trained; None if it says nothing."""
    names: tuple[str, ...] | None = getattr(type(value), MARK, None)
    return names


def has_fields(value: object) -> bool:
    return not isinstance(value, type) and (
        dataclasses.is_dataclass(value) or _is_attrs(value) or declared_trained(value) is not None
    )


def children(value: Any) -> list[tuple[str, Any]]:
    """`(name, child)` for every field that has a value."""
    return [(name, getattr(value, name)) for name in _names(value) if hasattr(value, name)]


def fill(shell: Any, values: list[Any]) -> None:
    for (name, _), value in zip(children(shell), values, strict=True):
        # `object.__setattr__` because a frozen class is rebuilt too.
        object.__setattr__(shell, name, value)


def _is_attrs(value: object) -> bool:
    return hasattr(type(value), "__attrs_attrs__")


def _names(value: Any) -> list[str]:
    if dataclasses.is_dataclass(value):
        return [field.name for field in dataclasses.fields(value)]
    if _is_attrs(value):
        return [field.name for field in type(value).__attrs_attrs__]
    return list(declared_trained(value) or ())
