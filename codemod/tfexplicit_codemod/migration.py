"""Turns paths into outcomes: every file is read, migrated in memory, and nothing is written."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from tfexplicit_codemod.agreements import settled
from tfexplicit_codemod.analysis.contracts import Contract, Key
from tfexplicit_codemod.discovery import files_beside, find_files
from tfexplicit_codemod.engine import may_have_site, migrate_source
from tfexplicit_codemod.notebooks import notebook_result
from tfexplicit_codemod.outcome import FileResult, Outcome
from tfexplicit_codemod.progress import with_progress_bar
from tfexplicit_codemod.project import Project


def migrate_paths(paths: list[Path], *, todo: bool) -> list[FileResult]:
    """One result per file below the paths; `after` holds what `migrate` would write."""
    files = find_files(paths)
    project = Project(files, beside=lambda: files_beside(paths, files))
    results = [
        _migrate_file(path, (), frozenset(), project, todo) for path in with_progress_bar(files)
    ]
    return settled(project, results, partial(_migrate_file, project=project, todo=todo))


def _migrate_file(
    path: Path,
    contracts: tuple[Contract, ...],
    refused: frozenset[Key],
    project: Project,
    todo: bool,
) -> FileResult:
    try:
        source = path.read_bytes()
    except OSError as error:
        reason = f"cannot be read: {error.strerror}"
        return FileResult(path, Outcome.FAILED, reason=reason)
    if path.suffix == ".ipynb":
        return notebook_result(path, source)
    if not may_have_site(source) and not contracts:
        return FileResult(path, Outcome.UNCHANGED, before=source)
    return migrate_source(source, path, todo=todo, around=project.around(path, contracts, refused))
