"""Ends a program once it has made the updates that were asked for (`--steps`)."""

from __future__ import annotations

import os
import threading

SECONDS_TO_END = 15  # for exit handlers, and threads and processes that are waited for


class Finished(SystemExit):
    """What `sys.exit(0)` raises: programs let it pass, and end cleanly."""


class Limit:
    def __init__(self, steps: int | None) -> None:
        self._steps = steps
        self.is_reached = False

    def count(self, updates: int) -> bool:
        """True if this was the last update to be made."""
        if self.is_reached or updates != self._steps:
            return False
        self.is_reached = True
        last_resort = threading.Timer(SECONDS_TO_END, os._exit, (0,))
        last_resort.daemon = True
        last_resort.start()
        return True

    def end_if_reached(self) -> None:
        if self.is_reached:
            raise Finished(0)
