"""Paths as reports show them, and as the file system has them."""

from __future__ import annotations

import os
from pathlib import Path


def relative_to_here(path: Path) -> Path:
    """From the working folder, where the file lies in it; else as it is."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


class RealPaths:
    """Where files are without links on their way: folder and name, which are compared faster than
    paths are. Each folder is looked at once."""

    def __init__(self) -> None:
        self._folders: dict[str, str] = {}

    def of(self, file: Path) -> tuple[str, str]:
        """The parts of `file.resolve()`."""
        if file.is_symlink():
            return os.path.split(file.resolve())
        folder, name = os.path.split(file)
        if folder not in self._folders:
            self._folders[folder] = os.path.realpath(folder)
        return self._folders[folder], name
