"""`tfexplicit migrate`: rewrites files in place."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from tfexplicit_codemod.commands.arguments import (
    FORMATS,
    Subparsers,
    add_paths_and_options,
    add_todo,
    migrated,
    reads_stdin,
)
from tfexplicit_codemod.errors import Refused

if TYPE_CHECKING:
    from tfexplicit_codemod.outcome import FileResult


def add_parser(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "migrate",
        help="rewrite files in place",
        description="Rewrites implicit updates to explicit ones, in place. A site that cannot be "
        "proven is left as it is, with a TODO comment and a line in the report. A file that "
        "needs nothing is not touched. With `-`, the program of stdin goes rewritten to stdout, "
        "and the report to stderr.",
    )
    add_paths_and_options(parser, FORMATS)
    parser.add_argument(
        "--allow-dirty",
        action="store_true",
        help="also write files with changes that are not committed in git",
    )
    add_todo(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    from tfexplicit_codemod.reports import print_report
    from tfexplicit_codemod.run import Run

    results = migrated(arguments)
    if reads_stdin(arguments):
        written, report_to = results, sys.stderr
        _print_program(results[0])
    else:
        written, report_to = _write(results, arguments.allow_dirty), sys.stdout
    finished = Run("migrate", arguments.paths, written, arguments.quiet)
    print_report(finished, arguments.format, report_to)
    return 0 if finished.counts.all_done else 3


def _print_program(result: FileResult) -> None:
    """Always a whole program: as it was, where nothing is to be rewritten or it failed."""
    sys.stdout.flush()
    sys.stdout.buffer.write(result.before if result.after is None else result.after)
    sys.stdout.buffer.flush()


def _write(results: list[FileResult], allow_dirty: bool) -> list[FileResult]:
    from tfexplicit_codemod import git
    from tfexplicit_codemod.write import write_changed

    to_write = [result.path for result in results if result.is_to_be_written]
    dirty = [] if allow_dirty else git.uncommitted(to_write)
    if dirty:
        raise Refused(
            "\n".join(map(str, dirty)) + "\n"
            "These files would be rewritten and have changes that are not committed. "
            "Commit or stash them, or pass --allow-dirty. Nothing was written."
        )
    return write_changed(results)
