"""`tfexplicit diff`: shows what `migrate` would write."""

from __future__ import annotations

import argparse

from rich.console import Console

from tfexplicit_codemod import report_text
from tfexplicit_codemod.commands.arguments import Subparsers, add_paths, add_todo, as_typed
from tfexplicit_codemod.diff_text import print_diff
from tfexplicit_codemod.migration import migrate_paths
from tfexplicit_codemod.tally import tally


def add_parser(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "diff",
        help="print what migrate would write, as a diff; writes nothing",
        description="Prints the rewrite as a unified diff that `git apply` takes, and the report "
        "on stderr. Exits with 1 if there is something to write.",
    )
    add_paths(parser)
    add_todo(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    results = migrate_paths(arguments.paths, todo=arguments.todo)
    print_diff(results)
    console = Console(stderr=True)
    report_text.print_report(console, results, rewritten="would be rewritten")
    something = any(result.is_to_be_written for result in results)
    if something:
        paths = as_typed(arguments.paths)
        report_text.print_lines(console, [f"Next: tfexplicit migrate {paths}"])
    if not tally(results).all_done:
        return 3
    return 1 if something else 0
