"""`tfexplicit check`: lists implicit sites, for people and for CI."""

from __future__ import annotations

import argparse

from tfexplicit_codemod.commands.arguments import (
    FORMATS,
    Subparsers,
    add_paths_and_options,
    migrated,
)


def add_parser(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "check",
        help="list the sites that update weights implicitly; writes nothing",
        description="Lists every site that updates weights through implicit optimizer state: "
        "what `migrate` would rewrite, and what it would leave and why. Exits with 1 if there "
        "is any, so that CI can hold the line.",
    )
    add_paths_and_options(parser, FORMATS)
    parser.set_defaults(run=run, todo=None)


def run(arguments: argparse.Namespace) -> int:
    from tfexplicit_codemod.reports import print_report
    from tfexplicit_codemod.run import Run

    finished = Run("check", arguments.paths, migrated(arguments), arguments.quiet)
    print_report(finished, arguments.format)
    if not finished.counts.all_done:
        return 3
    return 1 if finished.counts.sites else 0
