"""What the commands that read files have in common."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from tfexplicit_codemod.errors import UsageError

if TYPE_CHECKING:
    from tfexplicit_codemod.outcome import FileResult
    from tfexplicit_codemod.run_log import RunLog

Subparsers: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"
FORMATS = ("text", "json", "sarif", "github", "html")


def add_paths_and_options(parser: argparse.ArgumentParser, formats: tuple[str, ...]) -> None:
    parser.add_argument(
        "paths",
        nargs="+",
        type=Path,
        metavar="PATH",
        help="a file, or a folder to search for Python files that git does not ignore; "
        "- for a program on stdin",
    )
    parser.add_argument(
        "--format", choices=formats, default="text", help="what the report is (default: text)"
    )
    for name, what in (("select", "look at these codes only"), ("ignore", "pass these codes over")):
        parser.add_argument(
            f"--{name}",
            type=_codes,
            action="extend",
            metavar="CODE",
            help=f"{what}, for example TX101 or TX101,TX102",
        )
    parser.add_argument(
        "--exclude",
        action="append",
        metavar="PATTERN",
        help="never touch files that match, a pattern as in .gitignore; may be given again",
    )
    parser.add_argument(
        "--jobs", type=_number_of_jobs, metavar="N", help="at most so many processes"
    )
    parser.add_argument(
        "--from-log",
        type=Path,
        metavar="FILE",
        help="take calls for updates of a Keras optimizer where a run has seen one: what "
        "TFEXPLICIT_WARN_LOG=FILE has written",
    )
    parser.add_argument(
        "--quiet",
        action="store_true",
        help="no progress bar, and in the text report no counts and no hints",
    )


def add_todo(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--no-todo",
        dest="todo",
        action="store_const",
        const=False,
        help="write no `# TODO(tfexplicit ...)` comment above a site that is left",
    )


def reads_stdin(arguments: argparse.Namespace) -> bool:
    """True for `-`; `UsageError` where other paths stand beside it."""
    if Path("-") not in arguments.paths:
        return False
    if len(arguments.paths) > 1:
        raise UsageError("- reads a program from stdin, and no other path may stand beside it")
    return True


def migrated(arguments: argparse.Namespace) -> list[FileResult]:
    """The outcome of every file that the arguments name; nothing is written yet."""
    from tfexplicit_codemod.migration import migrate_paths, migrate_stdin
    from tfexplicit_codemod.settings import settings_of

    stdin = reads_stdin(arguments)
    settings = settings_of(
        [Path()] if stdin else arguments.paths,
        select=arguments.select,
        ignore=arguments.ignore,
        exclude=arguments.exclude,
        todo=arguments.todo,
        jobs=arguments.jobs,
        progress=not arguments.quiet,
        log=None if arguments.from_log is None else _log(arguments.from_log),
    )
    return [migrate_stdin(settings)] if stdin else migrate_paths(arguments.paths, settings)


def _log(path: Path) -> RunLog:
    from tfexplicit_codemod.run_log import RunLog

    if not path.is_file():
        raise UsageError(f"--from-log: there is no file {path}")
    try:
        return RunLog.read(path)
    except ValueError as error:
        raise UsageError(f"--from-log: {error}") from error


def _codes(text: str) -> list[str]:
    return [code.strip() for code in text.split(",")]


def _number_of_jobs(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of processes: 1 or more")
    return int(text)
