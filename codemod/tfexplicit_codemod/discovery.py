"""Finds the files that a command works on: what is named, and what lies below named folders."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache
from itertools import chain
from pathlib import Path

from tfexplicit_codemod import git, gitignore
from tfexplicit_codemod.errors import UsageError
from tfexplicit_codemod.exclusion import NOTHING, Exclusion
from tfexplicit_codemod.paths import RealPaths

SUFFIXES = (".py", ".ipynb")

NEVER_ENTERED = frozenset(
    {".git", ".hg", ".svn", ".tox", ".nox", ".eggs", "site-packages", "node_modules"}
    | {"build", "dist", "__pycache__", ".ipynb_checkpoints"}
    | {".mypy_cache", ".pytest_cache", ".ruff_cache"}
)


def find_files(paths: list[Path], exclude: Exclusion = NOTHING) -> list[Path]:
    """Every file to work on, each once, in the order of its paths.

    A file that is named is taken, unless it is excluded: what is excluded is never touched. Below a
    folder: Python files and notebooks that git does not ignore, and nothing in `NEVER_ENTERED` or a
    virtual environment. Links to folders are not followed; a link to a file is, as long as it does
    not lead out of the folder.
    """
    missing = [path for path in paths if not path.exists()]
    if missing:
        raise UsageError("\n".join(f"{path}: there is no such file or folder" for path in missing))
    found: dict[tuple[str, str], Path] = {}
    real = RealPaths()
    for path in paths:
        files = [path] if path.is_file() else _files_below(path)
        # Real files first, so that a link to one of them adds nothing.
        for file in sorted(files, key=lambda file: (file.is_symlink(), file)):
            if not exclude.covers(file):
                found.setdefault(real.of(file), file)
    return sorted(found.values())


def with_files_around(files: list[Path], known: list[Path]) -> list[Path]:
    """The known files, and those that may use one of `files`: the rest of its checkout.

    Outside a checkout: what lies in the same folder. The spelling of the known paths is kept.
    """
    around: set[Path] = set()
    real = RealPaths()
    for folder in {Path(real.of(file)[0]) for file in files}:
        around |= {git.checkout_of(folder) or folder}
    listed = (
        _files_below(folder) if git.checkout_of(folder) else folder.iterdir()
        for folder in sorted(around)
    )
    found = {real.of(file): file for file in known}
    for file in chain.from_iterable(listed):
        if file.suffix in SUFFIXES and file.is_file():
            found.setdefault(real.of(file), file)
    return list(found.values())


def _files_below(folder: Path) -> Iterator[Path]:
    root = folder.resolve()
    files: Iterator[Path]
    if git.checkout_of(folder) and not git.ignores(folder):
        files = (file for file in git.listed_files(folder) if not _is_below_never(file, folder))
    else:
        files = _walk(folder)
    for file in files:
        if file.suffix in SUFFIXES and file.is_file() and not _leads_out(file, root):
            yield file


def _leads_out(file: Path, root: Path) -> bool:
    return file.is_symlink() and not file.resolve().is_relative_to(root)


def _is_below_never(file: Path, folder: Path) -> bool:
    folders = file.relative_to(folder).parents
    return any(is_never_entered(folder / below) for below in list(folders)[:-1])


@cache
def is_never_entered(folder: Path) -> bool:
    """True for what is never source: caches, build output, repositories, environments."""
    return folder.name in NEVER_ENTERED or is_virtual_environment(folder)


def is_virtual_environment(folder: Path) -> bool:
    return (folder / "pyvenv.cfg").is_file()


def _walk(top: Path) -> Iterator[Path]:
    """The files below a folder where git cannot say what it ignores."""
    patterns = gitignore.above(top)
    for name, folders, files in os.walk(top, onerror=_cannot_be_listed):
        folder = Path(name)
        patterns.read(folder)
        folders[:] = sorted(
            name
            for name in folders
            if not is_never_entered(folder / name)
            and not patterns.ignore(folder / name, is_folder=True)
        )
        for file in map(folder.joinpath, files):
            if not patterns.ignore(file, is_folder=False):
                yield file


def _cannot_be_listed(error: OSError) -> None:
    raise UsageError(f"{error.filename}: the folder cannot be listed: {error.strerror}")
