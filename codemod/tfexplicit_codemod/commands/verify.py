"""`tfexplicit verify`: proves on a real run that the migrated program trains the same."""

from __future__ import annotations

import argparse
from pathlib import Path

from tfexplicit_codemod.commands.arguments import Subparsers


def add_parser(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "verify",
        help="run a script before and after, and compare every update",
        description="Copies the script's project to a temporary folder, migrates the copy, runs "
        "the script before and after with the same seeds and deterministic ops, and compares "
        "every update. Nothing is written in your folder. Exits with 0 if training is "
        "unchanged, with 1 if it differs, with 3 if there is no verdict.",
        epilog="example: tfexplicit verify train.py -- --epochs 1",
    )
    parser.add_argument("script", type=Path, metavar="SCRIPT", help="the training script")
    parser.add_argument(
        "arguments", nargs="*", metavar="-- ARGS", help="the script's own arguments"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    from tfexplicit_codemod.verify.verdict import verify_script

    return verify_script(arguments.script, arguments.arguments)
