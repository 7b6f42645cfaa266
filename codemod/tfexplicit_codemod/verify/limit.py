"""Ends a program once it has made the updates that were asked for (`--steps`)."""

from __future__ import annotations

from pathlib import Path

# The parent ends a program that still waits for something some time after this file is there.
REACHED = "reached"


class Finished(SystemExit):
    """What `sys.exit(0)` raises: programs let it pass, and end cleanly."""


class Limit:
    def __init__(self, steps: int | None, records: Path) -> None:
        self._steps = steps
        self._records = records
        self.is_reached = False

    def count(self, updates: int) -> bool:
        """True if this was the last update to be made."""
        if self.is_reached or updates != self._steps:
            return False
        self.is_reached = True
        (self._records / REACHED).touch()
        return True

    def end_if_reached(self) -> None:
        if self.is_reached:
            raise Finished(0)
