"""`verify`, from the script to the exit code."""

from __future__ import annotations

import os
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from types import FrameType

from rich.console import Console

from tfexplicit_codemod.diff_text import print_diff
from tfexplicit_codemod.errors import CannotVerify, UsageError
from tfexplicit_codemod.migration import migrate_paths
from tfexplicit_codemod.outcome import FileResult
from tfexplicit_codemod.report_text import lines_of_files_not_done, lines_of_sites_left
from tfexplicit_codemod.settings import settings_of
from tfexplicit_codemod.verify.compare import compare
from tfexplicit_codemod.verify.process import Program, run
from tfexplicit_codemod.verify.project import Project, find_project
from tfexplicit_codemod.verify.records import Trajectory
from tfexplicit_codemod.verify.report import describe, print_lines, print_table, print_verdict
from tfexplicit_codemod.write import write_changed

NAMES_SHOWN = 5
RUN_IN = "project"  # of the workspace


def verify_script(script: Path, arguments: list[str]) -> int:
    """0 if the migrated program trains as the original does, 1 if not."""
    if not script.is_file():
        raise UsageError(f"{script}: there is no such script")
    if find_spec("tensorflow") is None:
        raise CannotVerify(
            "verify runs the program, and TensorFlow is not installed here. "
            "Write: pip install 'tfexplicit[tf]'"
        )
    console = Console()
    with _workspace() as workspace:
        project = find_project(script, without=workspace)
        before, after = (
            _program(name, project, script, arguments, workspace) for name in ("before", "after")
        )
        results = _migrate(workspace / after.name, project.script)
        trajectory_before = _run(console, before, workspace)
        show_rewrite(console, results, trajectory_before)
        trajectory_after = _run(console, after, workspace)
        if not _trained_the_same(trajectory_before, trajectory_after):
            again = _program("before, again", project, script, arguments, workspace)
            stop_if_it_differs_from_itself(trajectory_before, _run(console, again, workspace))
    return compare_and_report(console, trajectory_before, trajectory_after)


def _trained_the_same(one: Trajectory, other: Trajectory) -> bool:
    return len(one.updates) == len(other.updates) and compare(one, other).equal


def stop_if_it_differs_from_itself(before: Trajectory, again: Trajectory) -> None:
    """A difference between the programs means nothing if one of them alone makes it."""
    if _trained_the_same(before, again):
        return
    first = compare(before, again).first
    how = f"it made {len(before.updates)} updates, then {len(again.updates)}"
    if first is not None:
        how = f"in update {first.index} the {first.what} was {first.before}, then {first.after}"
    raise CannotVerify(
        "the program before, run a second time, trained differently from its first run, so nothing "
        f"is proven: {how}. Is there a random source without a seed, the time, threads, or a file "
        "outside of the project that the first run left behind?"
    )


def compare_and_report(console: Console, before: Trajectory, after: Trajectory) -> int:
    comparison = compare(before, after)
    print_lines(console, dict.fromkeys([*before.notes, *after.notes]))
    print_table(console, before, after, comparison)
    if len(before.updates) != len(after.updates):
        first = comparison.first
        raise CannotVerify(
            f"the program before made {len(before.updates)} updates and the program after made "
            f"{len(after.updates)}. "
            + (f"They differ: {describe(first)}." if first else "Those that both made are equal.")
        )
    print_verdict(console, comparison)
    return 0 if comparison.equal else 1


@contextmanager
def _workspace() -> Iterator[Path]:
    """A temporary folder that is gone afterwards, also after Ctrl-C, SIGTERM and SIGHUP."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    # Not where it is ignored: under nohup, verify outlives the terminal.
    previous = {
        number: signal.signal(number, stop)
        for number in (signal.SIGTERM, signal.SIGHUP)
        if signal.getsignal(number) != signal.SIG_IGN
    }
    try:
        with tempfile.TemporaryDirectory(prefix="tfexplicit-verify-") as folder:
            yield Path(folder).resolve()
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def _program(
    name: str, project: Project, script: Path, arguments: list[str], workspace: Path
) -> Program:
    """Copies the project, and places script and working directory in it as they are placed now."""
    project.copy_to(workspace / name)
    copy = workspace / RUN_IN
    here = Path.cwd()
    if here.is_relative_to(project.root):
        working_directory = copy / here.relative_to(project.root)
    else:
        working_directory = copy / project.script.parent
    stored = workspace / name / working_directory.relative_to(copy)
    stored.mkdir(parents=True, exist_ok=True)
    script_as_typed = os.path.relpath(copy / project.script, working_directory)
    if script.is_absolute():
        script_as_typed = str(copy / project.script)
    return Program(name, copy, project.root, script_as_typed, tuple(arguments), working_directory)


def _migrate(copy: Path, script: Path) -> list[FileResult]:
    """Migrates a copy, and names the files by their paths in the project."""
    settings = settings_of([copy], todo=False)
    results = write_changed(migrate_paths([copy, copy / script], settings))
    results = [replace(result, path=result.path.relative_to(copy)) for result in results]
    if not any(result.is_to_be_written for result in results):
        raise CannotVerify("\n".join(["nothing was rewritten.", *_why_not(results)]))
    return results


def show_rewrite(console: Console, results: list[FileResult], run: Trajectory) -> None:
    """Prints the diff of the files that the program loaded: only they are put to the proof."""
    loaded = [result for result in results if result.path.as_posix() in run.loaded]
    others = [
        str(result.path) for result in results if result.is_to_be_written and result not in loaded
    ]
    if not any(result.is_to_be_written for result in loaded):
        raise CannotVerify(
            "\n".join(
                [
                    "no file that this program loads was rewritten. Rewritten, but not run: "
                    + _named(others),
                    *_why_not(loaded),
                ]
            )
        )
    print_diff(loaded)
    print_lines(console, _why_not(loaded))
    if others:
        print_lines(
            console, [f"Not proven by this run, which does not load them: {_named(others)}"]
        )


def _named(paths: list[str]) -> str:
    more = len(paths) - NAMES_SHOWN
    return ", ".join(paths[:NAMES_SHOWN]) + (f" and {more} more" if more > 0 else "")


def _why_not(results: list[FileResult]) -> list[str]:
    return [*lines_of_sites_left(results), *lines_of_files_not_done(results)]


def _run(console: Console, program: Program, workspace: Path) -> Trajectory:
    """Both run in a folder of one name: the order of a set of paths depends on the paths."""
    stored = workspace / program.name
    stored.rename(program.copy)
    with console.status(f"Running the program {program.name}..."):
        trajectory = run(program, workspace)
    program.copy.rename(stored)
    return trajectory
