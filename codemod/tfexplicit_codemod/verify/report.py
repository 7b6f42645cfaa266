"""What `verify` prints: a table of the updates, and the verdict."""

from __future__ import annotations

import zlib
from collections.abc import Iterable

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from tfexplicit_codemod.verify.records import Update
from tfexplicit_codemod.verify.verdict import Verdict

ROWS_AT_START = 3
MIB = 2**20

COLUMNS = [
    "\nupdate",
    "loss\nbefore",
    "loss\nafter",
    "gradient\nbefore",
    "gradient\nafter",
    "leaves\nbefore",
    "leaves\nafter",
    "\ndifference",
]


def print_verdict(console: Console, verdict: Verdict) -> None:
    print_lines(console, verdict.notes)
    table = Table(*COLUMNS, box=SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False)
    for column in table.columns:
        column.justify = "right"
    for row in rows(verdict):
        table.add_row(*row)
    console.print(table)
    print_lines(console, [*usage(verdict), *verdict.lines])


def usage(verdict: Verdict) -> list[str]:
    return [
        f"{name}: {len(run.updates)} updates, {run.seconds:.1f} s, "
        f"{run.peak_memory / MIB:.0f} MiB at the peak"
        for name, run in (("Before", verdict.before), ("After", verdict.after))
    ]


def rows(verdict: Verdict) -> list[list[str]]:
    """The first few updates, the last one, and the first that differs."""
    made = []
    previous = -1
    for position in _shown(verdict):
        if position != previous + 1:
            made.append(["..."] * len(COLUMNS))
        made.append(row(verdict, position))
        previous = position
    return made


def _shown(verdict: Verdict) -> list[int]:
    comparison = verdict.comparison
    wanted = {*range(ROWS_AT_START), comparison.updates - 1, comparison.position}
    return sorted(position for position in wanted if 0 <= position < comparison.updates)


def row(verdict: Verdict, position: int) -> list[str]:
    one, other = (run.updates[position] for run in (verdict.before, verdict.after))
    relative = verdict.comparison.relative[position]
    return [
        one.place.removeprefix("update "),
        _number(one.loss),
        _number(other.loss),
        _number(one.gradient_norm),
        _number(other.gradient_norm),
        digest(one),
        digest(other),
        f"{relative:.1e}" if relative else "0",
    ]


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"


def digest(update: Update) -> str:
    return f"{zlib.crc32(repr(update.digest).encode()):08x}"


def print_lines(console: Console, lines: Iterable[str]) -> None:
    """Prints each line whole and as it is: paths must survive a narrow terminal and grep."""
    for line in lines:
        console.print(line, markup=False, highlight=False, emoji=False, soft_wrap=True)
