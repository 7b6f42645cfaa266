"""`tfexplicit diff`: shows what `migrate` would write."""

from __future__ import annotations

import argparse
import sys

from tfexplicit_codemod.commands.arguments import (
    Subparsers,
    add_paths_and_options,
    add_todo,
    migrated,
)


def add_parser(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "diff",
        help="print what migrate would write, as a diff; writes nothing",
        description="Prints the rewrite as a unified diff that `git apply` takes, and the report "
        "on stderr; with `--format html`, one page with both. Exits with 1 if there is something "
        "to write.",
    )
    add_paths_and_options(parser, ("text", "html"))
    add_todo(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    from tfexplicit_codemod.diff_text import print_diff
    from tfexplicit_codemod.reports import print_report
    from tfexplicit_codemod.run import Run

    finished = Run("diff", arguments.paths, migrated(arguments), arguments.quiet)
    if arguments.format == "text":
        print_diff(finished.results)
        print_report(finished, "text", sys.stderr)
    else:
        print_report(finished, arguments.format)
    if not finished.counts.all_done:
        return 3
    return 1 if any(result.is_to_be_written for result in finished.results) else 0
