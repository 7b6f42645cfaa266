"""`tfexplicit explain`: what a code means."""

from __future__ import annotations

import argparse
import difflib

from rich.console import Console

from tfexplicit_codemod.commands.arguments import Subparsers
from tfexplicit_codemod.errors import UsageError
from tfexplicit_codemod.guide import render_page
from tfexplicit_codemod.registry import Rule, all_rules
from tfexplicit_codemod.report_text import print_lines


def add_parser(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "explain",
        help="say what a code means, with a before and an after",
        description="Prints what a code means, before and after, and where the guide has it.",
    )
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("code", nargs="?", metavar="CODE", help="for example TX101")
    what.add_argument("--list", action="store_true", help="list all codes")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    console = Console()
    if arguments.list:
        print_lines(console, [f"{rule.code}  {rule.name}: {rule.summary}" for rule in all_rules()])
        return 0
    rule = _rule_named(arguments.code)
    page = render_page(rule)
    # On a terminal the Markdown is laid out; anywhere else it stays Markdown.
    if console.is_terminal:
        from rich.markdown import Markdown  # slow to import, and no other command needs it

        console.print(Markdown(page))
    else:
        print_lines(console, [page])
    print_lines(console, [f"Guide: {rule.guide}"])
    return 0


def _rule_named(code: str) -> Rule:
    by_code = {rule.code: rule for rule in all_rules()}
    if code.upper() in by_code:
        return by_code[code.upper()]
    near = difflib.get_close_matches(code.upper(), by_code, n=3)
    hint = f"Did you mean {' or '.join(near)}? " if near else ""
    raise UsageError(f"{code} is not a code. {hint}`tfexplicit explain --list` lists all of them.")
