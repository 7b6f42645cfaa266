"""Turns paths into outcomes: every file is read, migrated in memory, and nothing is written."""

from __future__ import annotations

from pathlib import Path

from tfexplicit_codemod.discovery import find_files
from tfexplicit_codemod.engine import may_have_site, migrate_source
from tfexplicit_codemod.notebooks import notebook_result
from tfexplicit_codemod.outcome import FileResult, Outcome
from tfexplicit_codemod.progress import with_progress_bar
from tfexplicit_codemod.project import Project


def migrate_paths(paths: list[Path], *, todo: bool) -> list[FileResult]:
    """One result per file below the paths; `after` holds what `migrate` would write."""
    files = find_files(paths)
    project = Project(files)
    return [_migrate_file(path, project, todo=todo) for path in with_progress_bar(files)]


def _migrate_file(path: Path, project: Project, *, todo: bool) -> FileResult:
    try:
        source = path.read_bytes()
    except OSError as error:
        reason = f"cannot be read: {error.strerror}"
        return FileResult(path, Outcome.FAILED, reason=reason)
    if path.suffix == ".ipynb":
        return notebook_result(path, source)
    if not may_have_site(source):
        return FileResult(path, Outcome.UNCHANGED, before=source)
    return migrate_source(source, path, todo=todo, around=project.around(path))
