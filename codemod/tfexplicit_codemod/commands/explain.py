"""`tfexplicit explain`: what codes mean."""

from __future__ import annotations

import argparse
import sys

from tfexplicit_codemod.commands.arguments import Subparsers


def add_parser(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "explain",
        help="say what codes mean, with a before and an after",
        description="Prints what each code means, before and after, and where the guide has it.",
    )
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("codes", nargs="*", default=[], metavar="CODE", help="for example TX101")
    what.add_argument("--list", action="store_true", help="list all codes")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    from tfexplicit_codemod.codes import rule_named
    from tfexplicit_codemod.guide import render_page
    from tfexplicit_codemod.registry import all_rules

    if arguments.list:
        for rule in all_rules():
            print(f"{rule.code}  {rule.name}: {rule.summary}")
        return 0
    # All of them are looked up first: of a mistyped one nothing is printed.
    for rule in [rule_named(code) for code in arguments.codes]:
        _print_page(render_page(rule))
        print(f"Guide: {rule.guide}")
    return 0


def _print_page(page: str) -> None:
    # On a terminal the Markdown is laid out; anywhere else it stays Markdown.
    if sys.stdout.isatty():
        from rich.console import Console
        from rich.markdown import Markdown

        Console().print(Markdown(page))
    else:
        print(page)
