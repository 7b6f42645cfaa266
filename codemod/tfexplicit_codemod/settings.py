"""What a run takes into account: the command line where it says something, else pyproject.toml."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tfexplicit_codemod.codes import known_codes
from tfexplicit_codemod.config import config_for
from tfexplicit_codemod.exclusion import NOTHING, Exclusion
from tfexplicit_codemod.selection import EVERYTHING, Selection

if TYPE_CHECKING:
    from tfexplicit_codemod.run_log import RunLog


@dataclass(frozen=True)
class Settings:
    """`jobs` is the most processes to use, `log` what a run of the program has shown."""

    selection: Selection = EVERYTHING
    exclude: Exclusion = NOTHING
    todo: bool = True
    jobs: int = 1
    progress: bool = False
    log: RunLog | None = None


def processors() -> int:
    """The processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):  # not on macOS and Windows
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def settings_of(
    paths: list[Path],
    *,
    select: list[str] | None = None,
    ignore: list[str] | None = None,
    exclude: list[str] | None = None,
    todo: bool | None = None,
    jobs: int | None = None,
    progress: bool = False,
    log: RunLog | None = None,
) -> Settings:
    """An argument that is None is taken from the pyproject.toml that covers the paths."""
    config = config_for(paths)
    return Settings(
        selection=Selection(
            config.select if select is None else known_codes(select, "--select: "),
            config.ignore if ignore is None else known_codes(ignore, "--ignore: "),
        ),
        exclude=config.exclude if exclude is None else Exclusion(Path(), tuple(exclude)),
        todo=config.todo if todo is None else todo,
        jobs=jobs or processors(),
        progress=progress,
        log=log,
    )
