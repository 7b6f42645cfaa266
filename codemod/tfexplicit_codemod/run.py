"""One finished run, as every report gets it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tfexplicit_codemod.outcome import FileResult, Outcome
from tfexplicit_codemod.tally import Tally, tally

REWRITTEN = {
    "check": "can be rewritten",
    "diff": "would be rewritten",
    "migrate": "rewritten",
}


@dataclass(frozen=True)
class Run:
    """What a command did: its name, the paths as they were given, a result per file.

    `quiet` leaves out of the text report what is not about one site or one file.
    """

    command: str
    paths: list[Path]
    results: list[FileResult]
    quiet: bool = False

    @cached_property
    def counts(self) -> Tally:
        return tally(self.results)

    @property
    def rewritten(self) -> str:
        """What a site with a TX1xx code is in this run."""
        return REWRITTEN[self.command]

    def became(self, outcome: Outcome) -> str:
        """What a file with this outcome is in this run, for people: not all runs write."""
        would_be_written = outcome is Outcome.CHANGED and self.command != "migrate"
        return "would change" if would_be_written else outcome.value
