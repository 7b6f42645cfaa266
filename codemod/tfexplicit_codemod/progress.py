"""A progress bar for long runs, only where a person looks on."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import TypeVar

LONG_RUN = 100  # files

Each = TypeVar("Each")


def with_progress_bar(files: Iterator[Each], total: int) -> Iterator[Each]:
    if total < LONG_RUN or not sys.stderr.isatty() or "CI" in os.environ:
        return files
    # Slow to import, and short runs show no bar.
    from rich.console import Console
    from rich.progress import track

    # On stderr: stdout belongs to the diff or the report.
    console = Console(stderr=True)
    shown = track(files, "Reading files", total=total, console=console, transient=True)
    return iter(shown)
