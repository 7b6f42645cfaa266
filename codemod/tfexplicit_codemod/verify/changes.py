"""What differs between the two copies of the project, as results of files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tfexplicit_codemod.errors import CannotVerify
from tfexplicit_codemod.migration import migrate_paths
from tfexplicit_codemod.outcome import FileResult, Outcome
from tfexplicit_codemod.report_text import lines_of_files_not_done, lines_of_sites_left
from tfexplicit_codemod.settings import settings_of
from tfexplicit_codemod.verify.project import Project
from tfexplicit_codemod.write import write_changed

SOURCES = ("*.py", "*.ipynb")


def migrated(copy: Path, script: Path | None) -> list[FileResult]:
    """Migrates a copy, and names the files by their paths in the project."""
    settings = settings_of([copy], todo=False)
    paths = [copy, copy / script] if script else [copy]
    results = write_changed(migrate_paths(paths, settings))
    results = [replace(result, path=result.path.relative_to(copy)) for result in results]
    if not any(result.is_to_be_written for result in results):
        raise CannotVerify("\n".join(["nothing was rewritten.", *why_not(results)]))
    return results


def changed_since(before: Path, after: Path, project: Project, revision: str) -> list[FileResult]:
    """The sources that are others in the two copies."""
    if project.script and not (before / project.script).is_file():
        raise CannotVerify(f"revision {revision} has no {project.script}, so it cannot be run")
    sources = {
        file.relative_to(copy)
        for copy in (before, after)
        for pattern in SOURCES
        for file in copy.rglob(pattern)
    }
    texts = {path: (_bytes(before / path), _bytes(after / path)) for path in sorted(sources)}
    results = [
        FileResult(path, Outcome.CHANGED, before=old, after=new)
        for path, (old, new) in texts.items()
        if old != new
    ]
    if not results:
        raise CannotVerify(f"no source differs between revision {revision} and this checkout")
    return results


def _bytes(file: Path) -> bytes:
    return file.read_bytes() if file.is_file() else b""


def why_not(results: list[FileResult]) -> list[str]:
    return [*lines_of_sites_left(results), *lines_of_files_not_done(results)]
