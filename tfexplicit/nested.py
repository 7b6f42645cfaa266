"""Values by path as nested dicts, and back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tfexplicit.paths import join

Nested = dict[str, Any]


def nested(pairs: Iterable[tuple[str, Any]]) -> Nested:
    """`{"a": {"b": value}}` of `("a/b", value)`.

    Raises:
        ValueError: something lies below the path of an array.
    """
    top: Nested = {}
    for path, value in pairs:
        *parents, last = path.split("/")
        at = top
        for parent in parents:
            at = at.setdefault(parent, {})
            if not isinstance(at, dict):
                raise ValueError(f"{path!r} lies below an array. Rename a key of the model.")
        if last in at:
            raise ValueError(f"{path!r} is an array and has arrays below. Rename a key.")
        at[last] = value
    return top


def flattened(mapping: Mapping[Any, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    """`("a/b", value)` of `{"a": {"b": value}}`."""
    for key, value in mapping.items():
        if isinstance(value, Mapping):
            yield from flattened(value, join(path, str(key)))
        else:
            yield join(path, str(key)), value
