"""`tfexplicit verify`: proves on a real run that the migrated program trains the same."""

from __future__ import annotations

import argparse
from pathlib import Path

from tfexplicit_codemod.commands.arguments import Subparsers


def add_parser(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "verify",
        usage="tfexplicit verify [options] (SCRIPT | -m MODULE) [-- ARGS], or -- pytest ARGS",
        help="run a program before and after, and compare every update",
        description="Copies the program's project to a temporary folder, migrates the copy, runs "
        "the program before and after with the same seeds and deterministic ops, and compares "
        "every update. Exits with 0 if training is unchanged, with 1 if it differs, with 3 if "
        "there is no verdict.",
        epilog="examples: tfexplicit verify train.py -- --epochs 1, "
        "tfexplicit verify -m package.train, tfexplicit verify -- pytest tests/test_train.py",
    )
    parser.add_argument(
        "script",
        nargs="?",
        metavar="SCRIPT",
        help="a script or a notebook; what follows -- is passed on to it",
    )
    parser.add_argument("-m", dest="module", metavar="MODULE", help="run a module, as python -m")
    parser.add_argument(
        "--baseline",
        metavar="REVISION",
        help="migrate nothing: compare this checkout with a revision of git, which is before",
    )
    parser.add_argument(
        "--steps", type=_whole, metavar="N", help="end both programs after N updates"
    )
    parser.add_argument(
        "--timeout", type=_positive, metavar="SECONDS", help="give up when a program takes longer"
    )
    parser.add_argument(
        "--tolerance",
        type=_positive,
        default=0.0,
        metavar="X",
        help="take a relative difference up to X for rounding",
    )
    parser.add_argument(
        "--json", metavar="FILE", help="write the verdict and every update; - for stdout"
    )
    parser.add_argument(
        "--plot", type=_picture, metavar="FILE", help="draw both curves: .png, .svg or .pdf"
    )
    parser.add_argument(
        "--html", type=Path, metavar="FILE", help="write a page with verdict, curves and diff"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    from tfexplicit_codemod.verify.options import Options
    from tfexplicit_codemod.verify.run import verify
    from tfexplicit_codemod.verify.target import target_of

    return verify(
        Options(
            target=target_of(arguments.script, arguments.module, arguments.passed_on),
            baseline=arguments.baseline,
            steps=arguments.steps,
            timeout=arguments.timeout,
            tolerance=arguments.tolerance,
            json=arguments.json,
            plot=arguments.plot,
            html=arguments.html,
        )
    )


def _whole(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of updates: 1 or more")
    return int(text)


def _positive(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not value > 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0")
    return value


def _picture(text: str) -> Path:
    path = Path(text)
    if path.suffix not in (".png", ".svg", ".pdf"):
        raise argparse.ArgumentTypeError(f"{text!r} does not end with .png, .svg or .pdf")
    return path
