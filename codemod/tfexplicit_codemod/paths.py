"""Paths as reports show them, and as the file system has them."""

from __future__ import annotations

from pathlib import Path


def relative_to_here(path: Path) -> Path:
    """From the working folder, where the file lies in it; else as it is."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


class RealPaths:
    """Files without links on their way; each folder is looked at once."""

    def __init__(self) -> None:
        self._folders: dict[Path, Path] = {}

    def of(self, file: Path) -> Path:
        """What `file.resolve()` is."""
        if file.is_symlink():
            return file.resolve()
        folder = file.parent
        if folder not in self._folders:
            self._folders[folder] = folder.resolve()
        return self._folders[folder] / file.name
