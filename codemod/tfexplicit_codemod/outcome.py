"""What became of a file and of each update site in it: the vocabulary of every report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tfexplicit_codemod.analysis.contracts import Contract, Key


class Outcome(str, Enum):
    """Every file ends as exactly one of these."""

    CHANGED = "changed"
    UNCHANGED = "unchanged"
    NEEDS_HAND = "needs-hand"
    SKIPPED = "skipped"
    FAILED = "failed"

    @property
    def is_done(self) -> bool:
        """False where the file has a reason instead, and no sites that count."""
        return self not in (Outcome.SKIPPED, Outcome.FAILED)


@dataclass(frozen=True)
class Site:
    """One update site. `line` and `column` count from 1, in the file as it was.

    In a notebook they count in the cell, `cell` counts all its cells from 0, and `place_in_file` is
    the line and column of the JSON.
    """

    line: int
    column: int
    code: str
    text: str
    reason: str = ""
    cell: int | None = None
    place_in_file: tuple[int, int] | None = None

    @property
    def place(self) -> str:
        """Where the site is, for a person: `12:5`, or `cell 3, line 12`."""
        if self.cell is None:
            return f"{self.line}:{self.column}"
        return f"cell {self.cell}, line {self.line}"

    @property
    def line_and_column(self) -> tuple[int, int]:
        """Where the site is in the file as text, for a program that opens it there."""
        return self.place_in_file or (self.line, self.column)

    @property
    def message_place(self) -> str:
        """What a message must say of the place, since a notebook is not read as text."""
        return "" if self.cell is None else f"{self.place}: "

    @property
    def left(self) -> bool:
        """True where the code says why the site was left (TX2xx), not how it was rewritten."""
        return self.code.startswith("TX2")


@dataclass(frozen=True)
class FileResult:
    """The outcome of one file; `after` is the text to write when the outcome changes the file.

    `ignored` counts the sites that the run was told not to look at: they are not among `sites`.
    `asked`, `kept` and `broken` are contracts with other files (`analysis/contracts.py`), and
    `asks` is true where it asks some; `together` are the files that must be written if this one is.
    """

    path: Path
    outcome: Outcome
    sites: tuple[Site, ...] = ()
    before: bytes = b""
    after: bytes | None = None
    reason: str = ""
    ignored: int = 0
    asked: tuple[Contract, ...] = ()
    asks: bool = False
    kept: Mapping[Key, int] = field(default_factory=dict)
    broken: Mapping[Key, str] = field(default_factory=dict)
    together: frozenset[Path] = frozenset()

    @property
    def is_to_be_written(self) -> bool:
        return self.after is not None and self.after != self.before
