"""The command line: `tfexplicit migrate | diff | check | verify | explain`."""

from __future__ import annotations

import argparse
import gc
import io
import os
import sys
from collections.abc import Sequence

from tfexplicit_codemod.commands import check, diff, explain, migrate, verify
from tfexplicit_codemod.errors import Stop
from tfexplicit_codemod.version import VERSION

EXIT_CODES = """\
exit codes:
  0  done, or nothing to do
  1  check or diff found sites; verify found a difference
  2  the command was wrong
  3  finished, but some files failed or were skipped, or the report could not be
     printed; verify came to no verdict
  4  refused: a file to write has uncommitted changes
  130  interrupted
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code; argparse itself exits with 2."""
    _survive_any_file_name()
    # Syntax trees are many small objects, all in use: to look for waste among them takes a fifth
    # of a run, and finds none.
    gc.set_threshold(100_000, 50, 50)
    own, passed_on = _split(sys.argv[1:] if argv is None else argv)
    arguments = _parser().parse_args(own)
    arguments.passed_on = passed_on
    try:
        code: int = arguments.run(arguments)
        if sys.stdout is not None:  # closed by whoever started this process
            sys.stdout.flush()
        return code
    except Stop as stop:
        print(f"tfexplicit: {stop}", file=sys.stderr)
        return stop.exit_code
    except KeyboardInterrupt:
        print(
            "\ntfexplicit: interrupted; every file is whole, as it was or migrated",
            file=sys.stderr,
        )
        return 130
    except BrokenPipeError:
        # The reader (`| head`) has seen enough.
        _print_no_more()
        return 141
    except OSError as error:
        # The report cannot be printed: a full disk.
        print(f"tfexplicit: {error}", file=sys.stderr)
        _print_no_more()
        return 3


def _print_no_more() -> None:
    """Python must not fail again at exit, when it flushes stdout."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _split(argv: Sequence[str]) -> tuple[list[str], list[str]]:
    """What is ours, and what `verify` passes on: what follows `--`, which argparse does not find
    again where an option stands between it and the script."""
    if argv[:1] != ["verify"] or "--" not in argv:
        return list(argv), []
    position = argv.index("--")
    return list(argv[:position]), list(argv[position + 1 :])


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="tfexplicit",
        description="Moves TensorFlow and Keras training code to explicit optimiser state.",
        epilog=EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"tfexplicit {VERSION}")
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in (check, diff, verify, migrate, explain):
        command.add_parser(subparsers)
    return parser


def _survive_any_file_name() -> None:
    # A file name that the terminal's encoding cannot show is printed with escapes.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
