"""The lines that may still update implicitly: a file that the first run makes, and that shrinks.

A line of it is `PATH: SOURCE LINE`, the path relative to the file's folder. It holds the text and
not the number, so that an edit elsewhere in the source changes nothing.
"""

from __future__ import annotations

import linecache
import os
from pathlib import Path
from typing import Protocol


class Place(Protocol):
    @property
    def file(self) -> str: ...

    @property
    def line(self) -> int: ...


class Ratchet:
    """`seen` are the lines that this run has come by."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._is_new = not path.exists()
        self._allowed = set() if self._is_new else set(path.read_text("utf-8").splitlines())
        self.seen: set[str] = set()

    def allows(self, place: Place) -> bool:
        text = linecache.getline(place.file, place.line).strip()
        entry = f"{Path(os.path.relpath(place.file, self._path.parent)).as_posix()}: {text}"
        self.seen.add(entry)
        return self._is_new or entry in self._allowed

    def write(self) -> None:
        """A run of some tests comes by some lines only, so the source decides what is gone."""
        kept = self.seen if self._is_new else {line for line in self._allowed if self._stands(line)}
        if self._is_new or kept != self._allowed:
            self._path.write_text("".join(f"{line}\n" for line in sorted(kept)), "utf-8")

    def _stands(self, entry: str) -> bool:
        name, _, text = entry.partition(": ")
        source = self._path.parent / name
        if not source.exists():
            return False
        return text in {line.strip() for line in source.read_text("utf-8").splitlines()}
