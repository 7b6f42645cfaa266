"""Paths of leaves: joining, globs, prefixes, unique names, and names near a wrong one."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import TypeVar

Value = TypeVar("Value")


def join(path: str, name: str) -> str:
    return f"{path}/{name}" if path and name else path or name


def is_under(path: str, prefix: str) -> bool:
    """True for the place itself and everything below it."""
    return not prefix or path == prefix or path.startswith(f"{prefix}/")


def matches(path: str, glob: str) -> bool:
    """`*` stays within a segment, `**` crosses them; a glob also covers what is below it."""
    return _compiled(glob).match(path) is not None


@cache
def _compiled(glob: str) -> re.Pattern[str]:
    pieces = re.split(r"(\*\*|\*|\?)", glob)
    wild = {"**": ".*", "*": "[^/]*", "?": "[^/]"}
    body = "".join(wild.get(piece, re.escape(piece)) for piece in pieces)
    # `**/bias` also means a `bias` at the top.
    body = body.replace(".*/", "(?:.*/)?")
    return re.compile(f"{body}(?:/.*)?$")


def first_match(owner: str, path: str, by_glob: Mapping[str, Value]) -> Value:
    """What stands at the first glob that matches.

    Raises:
        ValueError: none does.
    """
    for glob, value in by_glob.items():
        if matches(path, glob):
            return value
    raise ValueError(
        f"{owner}: no rule for {path!r}; the globs are {', '.join(map(repr, by_glob))}. "
        'Add a last entry "**" for all other leaves.'
    )


def suggestion(name: str, known: Iterable[str]) -> str:
    """A sentence with the near names, or with some of the known ones."""
    choices = list(dict.fromkeys(known))
    near = difflib.get_close_matches(name, choices, n=3, cutoff=0.5)
    if near:
        return f"Did you mean {' or '.join(map(repr, near))}?"
    some = ", ".join(map(repr, choices[:8]))
    return f"There is {some}{', ...' if len(choices) > 8 else ''}." if some else "There is none."


def prefixes(path: str) -> list[str]:
    """`a/b/c` gives `a`, `a/b`, `a/b/c`."""
    segments = path.split("/")
    return ["/".join(segments[: end + 1]) for end in range(len(segments))]


class UniqueNames:
    """Gives each name once: a second `kernel` becomes `kernel_1`."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = set(taken)
        self._last_number: dict[str, int] = {}

    def add(self, name: str) -> str:
        free, number = name, self._last_number.get(name, 0)
        while free in self._taken:
            number += 1
            free = f"{name}_{number}"
        self._last_number[name] = number
        self._taken.add(free)
        return free
