"""Which leaves a rule concerns: the argument `where`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfexplicit import paths

Where = str | Callable[[str, Any], bool] | None


def concerns(where: Where, path: str, target: Any) -> bool:
    """True if the glob matches, or the function of path and leaf says so; None is every leaf."""
    if where is None:
        return True
    return paths.matches(path, where) if isinstance(where, str) else bool(where(path, target))


def expect_where(owner: str, where: object) -> None:
    if where is not None and not isinstance(where, str) and not callable(where):
        raise TypeError(
            f"{owner}: `where` must be a path glob or a function (path, leaf) -> bool, got "
            f'{type(where).__name__}: {where!r}. Write where="**/kernel".'
        )
