"""A progress bar for long runs, only where a person looks on."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from rich.console import Console
from rich.progress import track

LONG_RUN = 100


def with_progress_bar(files: list[Path]) -> Iterable[Path]:
    # On stderr: stdout belongs to the diff or the report.
    console = Console(stderr=True)
    if len(files) < LONG_RUN or not console.is_terminal:
        return files
    return track(files, "Reading files", console=console, transient=True)
