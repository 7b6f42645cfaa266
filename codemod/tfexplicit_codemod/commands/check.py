"""`tfexplicit check`: lists implicit sites, for people and for CI."""

from __future__ import annotations

import argparse

from rich.console import Console

from tfexplicit_codemod import report_json, report_text
from tfexplicit_codemod.commands.arguments import Subparsers, add_paths, as_typed
from tfexplicit_codemod.migration import migrate_paths
from tfexplicit_codemod.tally import tally


def add_parser(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "check",
        help="list the sites that update weights implicitly; writes nothing",
        description="Lists every site that updates weights through implicit optimizer state: "
        "what `migrate` would rewrite, and what it would leave and why. Exits with 1 if there "
        "is any, so that CI can hold the line.",
    )
    add_paths(parser)
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    results = migrate_paths(arguments.paths, todo=True)
    counts = tally(results)
    if arguments.format == "json":
        print(report_json.json_report(results))
    else:
        console = Console()
        report_text.print_lines(console, report_text.lines_of_all_sites(results))
        report_text.print_lines(console, report_text.lines_of_files_not_done(results))
        report_text.print_summary(console, counts, rewritten="can be rewritten")
        if counts.rewritten:
            paths = as_typed(arguments.paths)
            report_text.print_lines(console, [f"Next: tfexplicit diff {paths}"])
    if not counts.all_done:
        return 3
    return 1 if counts.sites else 0
