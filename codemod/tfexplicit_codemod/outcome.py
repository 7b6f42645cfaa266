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
    """One update site. `line` and `column` count from 1, in the file as it was."""

    line: int
    column: int
    code: str
    text: str
    reason: str = ""

    @property
    def left(self) -> bool:
        """True where the code says why the site was left (TX2xx), not how it was rewritten."""
        return self.code.startswith("TX2")


@dataclass(frozen=True)
class FileResult:
    """The outcome of one file; `after` is the text to write when the outcome changes the file.

    `asked` and `kept` are contracts with other files (`analysis/contracts.py`); `together` are the
    files that must be written if this one is, and only then.
    """

    path: Path
    outcome: Outcome
    sites: tuple[Site, ...] = ()
    before: bytes = b""
    after: bytes | None = None
    reason: str = ""
    asked: tuple[Contract, ...] = ()
    kept: Mapping[Key, int] = field(default_factory=dict)
    together: frozenset[Path] = frozenset()

    @property
    def is_to_be_written(self) -> bool:
        return self.after is not None and self.after != self.before
