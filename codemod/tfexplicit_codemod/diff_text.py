"""The unified diff of a run, in the files' own bytes, so that `git apply` takes it."""

from __future__ import annotations

import difflib
import io
import os
import sys

from tfexplicit_codemod.outcome import FileResult
from tfexplicit_codemod.paths import relative_to_here

RESET = b"\x1b[0m"
COLOURS = {b"+": b"\x1b[32m", b"-": b"\x1b[31m", b"@": b"\x1b[36m"}
BOLD = b"\x1b[1m"


def print_diff(results: list[FileResult]) -> None:
    """Writes the diff of every file that would change to stdout; coloured on a terminal."""
    coloured = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    sys.stdout.flush()
    for result in results:
        if result.is_to_be_written:
            lines = diff_of(result)
            sys.stdout.buffer.writelines(map(_coloured, lines) if coloured else lines)
    sys.stdout.buffer.flush()


def diff_of(result: FileResult) -> list[bytes]:
    """The lines of one file's diff, each with its line ending."""
    assert result.after is not None
    name = os.fsencode(relative_to_here(result.path).as_posix())
    lines = difflib.diff_bytes(
        difflib.unified_diff,
        _lines(result.before),
        _lines(result.after),
        b"a/" + name,
        b"b/" + name,
    )
    return [_ended(line) for line in lines]


def _lines(source: bytes) -> list[bytes]:
    # `bytes.splitlines` would also split at a lone carriage return, which patch does not.
    return io.BytesIO(source).readlines()


def _ended(line: bytes) -> bytes:
    if line.endswith(b"\n"):
        return line
    return line + b"\n\\ No newline at end of file\n"


def _coloured(line: bytes) -> bytes:
    if line.startswith((b"---", b"+++")):
        return BOLD + line + RESET
    colour = COLOURS.get(line[:1])
    return colour + line + RESET if colour else line
