"""`verify`, from its options to the exit code."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from rich.console import Console

from tfexplicit_codemod import git
from tfexplicit_codemod.diff_text import print_diff
from tfexplicit_codemod.errors import CannotVerify, UsageError
from tfexplicit_codemod.verify import json_report, page
from tfexplicit_codemod.verify.compare import compare
from tfexplicit_codemod.verify.options import Options
from tfexplicit_codemod.verify.picture import expect_matplotlib, picture_of
from tfexplicit_codemod.verify.project import find_project
from tfexplicit_codemod.verify.records import Trajectory
from tfexplicit_codemod.verify.report import print_lines, print_verdict
from tfexplicit_codemod.verify.verdict import Changes, Verdict, changes_in
from tfexplicit_codemod.verify.workspace import AFTER, AGAIN, BEFORE, Workspace, temporary_folder

STDOUT = "-"


def verify(options: Options) -> int:
    """0 if both programs train the same, 1 if not, 3 if there is no verdict."""
    _check(options)
    console = Console(quiet=options.json == STDOUT)
    try:
        with temporary_folder() as folder:
            verdict = _verdict(options, folder, console)
    except CannotVerify as stop:
        _write_json(options, json_report.no_verdict(options, str(stop)))
        raise
    print_verdict(console, verdict)
    _write_json(options, json_report.report(verdict))
    if options.plot:
        options.plot.write_bytes(picture_of(verdict, options.plot.suffix.removeprefix(".")))
    if options.html:
        options.html.write_text(page.report(verdict), "utf-8")
    return verdict.status.exit_code


def _check(options: Options) -> None:
    """Says what cannot work before the programs run."""
    if find_spec("tensorflow") is None:
        raise CannotVerify(
            "verify runs the program, and TensorFlow is not installed here. "
            "Write: pip install 'tfexplicit[tf]'"
        )
    if options.baseline and git.checkout_of(Path.cwd()) is None:
        raise UsageError("--baseline compares with a revision, and this is no git checkout")
    if options.plot or options.html:
        expect_matplotlib()


def _verdict(options: Options, folder: Path, console: Console) -> Verdict:
    project = find_project(options.target.place, without=folder)
    workspace = Workspace(folder, project, options)
    results = workspace.changes()
    before = _run(workspace, BEFORE, console)
    _show(changes_in(results, before), console)
    after = _run(workspace, AFTER, console)
    again = None
    if not compare(before, after, options.tolerance).equal:
        # A difference means nothing if the program before makes it by itself.
        workspace.prepare(AGAIN)
        again = _run(workspace, AGAIN, console)
    return Verdict(options, changes_in(results, before, after), before, after, again)


def _run(workspace: Workspace, name: str, console: Console) -> Trajectory:
    with console.status(f"Running the program {name}..."):
        return workspace.run(name)


def _show(changes: Changes, console: Console) -> None:
    if not console.quiet:
        print_diff(changes.loaded)
    print_lines(console, changes.notes)


def _write_json(options: Options, text: str) -> None:
    if options.json == STDOUT:
        print(text)
    elif options.json:
        Path(options.json).write_text(text + "\n", "utf-8")
