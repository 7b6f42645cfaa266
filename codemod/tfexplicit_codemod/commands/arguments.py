"""What the commands that read files have in common."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import TypeAlias

Subparsers: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def add_paths(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "paths",
        nargs="+",
        type=Path,
        metavar="PATH",
        help="a file, or a folder to search for Python files that git does not ignore",
    )


def add_todo(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--no-todo",
        dest="todo",
        action="store_false",
        help="write no `# TODO(tfexplicit ...)` comment above a site that is left",
    )


def as_typed(paths: list[Path]) -> str:
    """The paths as one would type them in a shell."""
    return shlex.join(str(path) for path in paths)
