"""`tfexplicit migrate`: rewrites files in place."""

from __future__ import annotations

import argparse
from pathlib import Path

from rich.console import Console

from tfexplicit_codemod import git, report_text
from tfexplicit_codemod.commands.arguments import Subparsers, add_paths, add_todo
from tfexplicit_codemod.errors import Refused
from tfexplicit_codemod.migration import migrate_paths
from tfexplicit_codemod.outcome import FileResult
from tfexplicit_codemod.tally import Tally, tally
from tfexplicit_codemod.write import write_changed


def add_parser(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "migrate",
        help="rewrite files in place",
        description="Rewrites implicit updates to explicit ones, in place. A site that cannot be "
        "proven is left as it is, with a TODO comment and a line in the report. A file that "
        "needs nothing is not touched.",
    )
    add_paths(parser)
    parser.add_argument(
        "--allow-dirty",
        action="store_true",
        help="also write files with changes that are not committed in git",
    )
    add_todo(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    results = migrate_paths(arguments.paths, todo=arguments.todo)
    if not arguments.allow_dirty:
        _refuse_to_write_over_uncommitted_changes(results)
    written = write_changed(results)
    console = Console()
    report_text.print_report(console, written, rewritten="rewritten")
    counts = tally(written)
    report_text.print_lines(console, _next(written, counts))
    return 0 if counts.all_done else 3


def _refuse_to_write_over_uncommitted_changes(results: list[FileResult]) -> None:
    dirty = git.uncommitted([result.path for result in results if result.is_to_be_written])
    if dirty:
        raise Refused(
            f"{_listed(dirty)}\n"
            "These files would be rewritten and have changes that are not committed. "
            "Commit or stash them, or pass --allow-dirty. Nothing was written."
        )


def _next(written: list[FileResult], counts: Tally) -> list[str]:
    lines = []
    if counts.left:
        code = next(iter(counts.left))
        lines.append(f"Next: tfexplicit explain {code}   # what to do about a site that was left")
    if any(result.is_to_be_written for result in written):
        lines.append("Next: run your formatter and your tests, then commit")
    return lines


def _listed(paths: list[Path]) -> str:
    return "\n".join(str(path) for path in paths)
