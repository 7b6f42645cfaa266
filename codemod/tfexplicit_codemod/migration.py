"""Turns paths into outcomes: every file is read, migrated in memory, and nothing is written."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from tfexplicit_codemod import git
from tfexplicit_codemod.agreements import settled
from tfexplicit_codemod.analysis.contracts import Contract, Key
from tfexplicit_codemod.discovery import find_files, with_files_around
from tfexplicit_codemod.engine import may_have_site, migrate_source
from tfexplicit_codemod.errors import UsageError
from tfexplicit_codemod.notebook.migrate import migrate_notebook
from tfexplicit_codemod.outcome import FileResult, Outcome
from tfexplicit_codemod.progress import with_progress_bar
from tfexplicit_codemod.project import Project
from tfexplicit_codemod.settings import Settings
from tfexplicit_codemod.surroundings import ALONE, Surroundings

STDIN = Path("<stdin>")
EDITED_SINCE = (
    "the log is of another text of this file, which was edited since: run the program again, or "
    "migrate without --from-log"
)
# Below this many bytes of files with a site, starting processes takes longer than the work.
WORTH_A_POOL = 700_000


def migrate_paths(paths: list[Path], settings: Settings) -> list[FileResult]:
    """One result per file below the paths; `after` holds what `migrate` would write."""
    files = find_files(paths, settings.exclude)
    results = _results(paths, files, settings)
    if settings.progress:
        results = with_progress_bar(results, len(files))
    in_order = sorted(results, key=lambda result: result.path)
    asking = [result.path for result in in_order if result.asks]
    if not asking:
        return in_order
    project = Project(_files_to_know(paths, files, asking, settings))
    return settled(project, in_order, partial(_again, project=project, settings=settings))


def migrate_stdin(settings: Settings) -> FileResult:
    """The outcome for a program that is read from stdin."""
    if sys.stdin is None:
        raise UsageError("-: stdin is closed; it must hold the program")
    source = sys.stdin.buffer.read()
    # It may be a file of a project, whose other files are out of sight.
    around = replace(
        ALONE, is_used_elsewhere=lambda name: True, is_read_elsewhere=lambda name: True
    )
    return migrate_source(
        source, STDIN, todo=settings.todo, around=around, selection=settings.selection
    )


def _results(paths: list[Path], files: list[Path], settings: Settings) -> Iterator[FileResult]:
    """The files without a site first: only the others are worth another process."""
    hot: list[tuple[Path, bytes]] = []
    for path in files:
        source_or_result = _read(path)
        if isinstance(source_or_result, bytes):
            hot.append((path, source_or_result))
        else:
            yield source_or_result
    files = _files_to_know(paths, files, [path for path, _ in hot], settings)
    make_work = partial(_make_work, files, settings)
    if settings.jobs > 1 and sum(len(source) for _, source in hot) > WORTH_A_POOL:
        from tfexplicit_codemod.pool import mapped  # slow to import, and few runs are this long

        yield from mapped(make_work, hot, settings.jobs, crashed=_crashed)
    else:
        yield from map(make_work(), hot)


def _files_to_know(
    paths: list[Path], files: list[Path], hot: list[Path], settings: Settings
) -> list[Path]:
    if not hot or _is_all_of_a_checkout(paths, settings):
        return files
    return with_files_around(hot, files)


def _is_all_of_a_checkout(paths: list[Path], settings: Settings) -> bool:
    """True where the files of the run are all that may call each other."""
    whole = any(git.checkout_of(path) == path.resolve() for path in paths)
    return whole and len(paths) == 1 and not settings.exclude.patterns


def _read(path: Path) -> bytes | FileResult:
    """The bytes of a file that may have a site; for any other file its result."""
    try:
        source = path.read_bytes()
    except OSError as error:
        reason = f"cannot be read: {error.strerror}"
        return FileResult(path, Outcome.FAILED, reason=reason)
    if not may_have_site(source):
        return FileResult(path, Outcome.UNCHANGED, before=source)
    return source


def _make_work(files: list[Path], settings: Settings) -> Callable[[tuple[Path, bytes]], FileResult]:
    return partial(_migrate, project=Project(files), settings=settings)


def _migrate(file: tuple[Path, bytes], *, project: Project, settings: Settings) -> FileResult:
    path, source = file
    if settings.log is not None and not settings.log.fits(path, source):
        return FileResult(path, Outcome.SKIPPED, before=source, reason=EDITED_SINCE)
    migrate = migrate_notebook if path.suffix == ".ipynb" else migrate_source
    result = migrate(
        source,
        path,
        todo=settings.todo,
        around=_with_observed(project.around(path), path, settings),
        selection=settings.selection,
    )
    # What it asks holds syntax trees, too deep to be sent from another process.
    return replace(result, asked=())


def _again(
    path: Path,
    contracts: tuple[Contract, ...],
    refused: Mapping[Key, str],
    *,
    project: Project,
    settings: Settings,
) -> FileResult:
    """The outcome for a file of which others ask something."""
    try:
        source = path.read_bytes()
    except OSError as error:
        reason = f"cannot be read: {error.strerror}"
        return FileResult(path, Outcome.FAILED, reason=reason)
    around = replace(project.around(path), contracts=contracts, refused=refused)
    return migrate_source(
        source,
        path,
        todo=settings.todo,
        around=_with_observed(around, path, settings),
        selection=settings.selection,
    )


def _with_observed(around: Surroundings, path: Path, settings: Settings) -> Surroundings:
    if settings.log is None:
        return around
    return replace(around, observed=settings.log.places_in(path))


def _crashed(file: tuple[Path, bytes]) -> FileResult:
    path, source = file
    reason = "the process that read it was killed: out of memory, or a crash of the parser"
    return FileResult(path, Outcome.FAILED, before=source, reason=reason)
