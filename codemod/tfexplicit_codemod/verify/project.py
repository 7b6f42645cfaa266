"""The project that a program belongs to, and copies of it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tfexplicit_codemod import git
from tfexplicit_codemod.discovery import is_never_entered
from tfexplicit_codemod.errors import CannotVerify

LARGEST_COPY = 2**30  # bytes
BUILD_FOLDERS = frozenset({"build", "dist"})  # may be packages that the script imports


@dataclass(frozen=True)
class Project:
    """A folder, its files, and the script in it, if the program is one; the paths of files are
    relative to `root`."""

    root: Path
    files: tuple[Path, ...]
    script: Path | None

    def copy_to(self, folder: Path) -> None:
        self._copy(self.files, folder)

    def copy_revision_to(self, folder: Path, revision: str) -> None:
        """As it was in a revision of git; files that git does not track, and those of submodules,
        as they are now."""
        git.write_revision(self.root, revision, folder)
        tracked = git.tracked_files(self.root)
        self._copy([file for file in self.files if file not in tracked], folder)

    def _copy(self, files: Iterable[Path], folder: Path) -> None:
        for file in files:
            copied = folder / file
            copied.parent.mkdir(parents=True, exist_ok=True)
            try:
                if (self.root / file).is_symlink():
                    copied.symlink_to(self._link_target(file))
                else:
                    shutil.copy2(self.root / file, copied)
            except OSError as error:
                reason = error.strerror or error
                raise CannotVerify(f"{self.root / file} cannot be copied: {reason}") from None

    def _link_target(self, file: Path) -> Path:
        """A link within the project leads within the copy; any other leads where it led."""
        target = (self.root / file).resolve()
        if not target.is_relative_to(self.root):
            return target
        link = (self.root / file).readlink()
        if link.is_absolute():
            return Path(os.path.relpath(target, (self.root / file).parent))
        return link


def find_project(place: Path, *, without: Path) -> Project:
    """The checkout that holds a script or a folder, or its folder where there is none; `without` is
    left out.

    `CannotVerify` if it is too large to copy.
    """
    place = place.resolve()
    script = place if place.is_file() else None
    folder = place.parent if script else place
    root = git.checkout_of(folder)
    files = [file for file in git.listed_files(root) if _is_file(file)] if root else []
    if root is None or (script and script not in files):
        root = folder
        files = _files_below(root, without)
    _check_size(root, files)
    relative = tuple(file.relative_to(root) for file in files)
    return Project(root, relative, script.relative_to(root) if script else None)


def _files_below(root: Path, without: Path) -> list[Path]:
    files: list[Path] = []
    for name, folders, names in os.walk(root):
        folder = Path(name)
        links = [each for each in folders if (folder / each).is_symlink()]
        folders[:] = [each for each in folders if _is_copied(folder / each, without)]
        files += [folder / each for each in links + names if _is_file(folder / each)]
    return files


def _is_copied(folder: Path, without: Path) -> bool:
    return folder.name in BUILD_FOLDERS or not (is_never_entered(folder) or folder == without)


def _is_file(path: Path) -> bool:
    """False for sockets, pipes, and files that git knows but that are gone."""
    return path.is_symlink() or path.is_file()


def _check_size(root: Path, files: list[Path]) -> None:
    sizes = {file: file.lstat().st_size for file in files}
    total = sum(sizes.values())
    if total > LARGEST_COPY:
        largest = max(sizes, key=lambda file: sizes[file])
        raise CannotVerify(
            f"{root} holds {_gib(total)} in {len(files)} files, and verify copies at most "
            f"{_gib(LARGEST_COPY)}. The largest is {largest} ({_gib(sizes[largest])}). "
            "Let .gitignore name the data and read it from an absolute path, or move the "
            "script into a smaller folder."
        )


def _gib(size: int) -> str:
    return f"{size / 2**30:.2f} GiB"
