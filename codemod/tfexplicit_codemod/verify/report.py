"""What `verify` prints: a table of the updates, and the verdict."""

from __future__ import annotations

import zlib
from collections.abc import Iterable

from rich.console import Console
from rich.table import Table

from tfexplicit_codemod.verify.compare import Comparison, Difference, differences_of
from tfexplicit_codemod.verify.records import Trajectory, Update

ROWS_AT_START = 3


def print_table(
    console: Console, before: Trajectory, after: Trajectory, comparison: Comparison
) -> None:
    """The first few updates, the last one, and the first that differs."""
    table = Table(
        "update", "gradient norm\nbefore", "\nafter", "parameters\nbefore", "\nafter", "difference"
    )
    for column in table.columns:
        column.justify = "right"
    previous = 0
    for position in _shown(comparison):
        if position != previous + 1 and previous:
            table.add_row(*["..."] * len(table.columns))
        table.add_row(*_row(before.updates[position - 1], after.updates[position - 1]))
        previous = position
    console.print(table)


def _shown(comparison: Comparison) -> list[int]:
    wanted = {*range(1, ROWS_AT_START + 1), comparison.updates}
    if comparison.first is not None:
        wanted |= {comparison.first.index}
    return sorted(position for position in wanted if 1 <= position <= comparison.updates)


def _row(one: Update, other: Update) -> list[str]:
    differences = differences_of(one, other, same_numbers_so_far=True)
    largest = max((difference.relative for difference in differences), default=0.0)
    return [
        str(one.index),
        f"{one.gradient_norm:.6g}",
        f"{other.gradient_norm:.6g}",
        _digest(one),
        _digest(other),
        f"{largest:.1e}" if largest else "0",
    ]


def _digest(update: Update) -> str:
    return f"{zlib.crc32(repr(update.digest).encode()):08x}"


def print_lines(console: Console, lines: Iterable[str]) -> None:
    """Prints each line whole and as it is: paths must survive a narrow terminal and grep."""
    for line in lines:
        console.print(line, markup=False, highlight=False, emoji=False, soft_wrap=True)


def print_verdict(console: Console, comparison: Comparison) -> None:
    print_lines(console, _verdict(comparison))


def _verdict(comparison: Comparison) -> list[str]:
    compared = f"{comparison.updates} updates of {comparison.leaves} leaves"
    if comparison.bit_for_bit:
        return [f"Training is unchanged: {compared} are equal bit for bit."]
    if comparison.first is None:
        assert comparison.largest is not None
        return [
            f"Training is unchanged: {compared} are equal within rounding.",
            f"The largest difference: {describe(comparison.largest)}.",
        ]
    return [
        f"Training differs: {describe(comparison.first)}.",
        "This is the first of the updates to differ beyond rounding. The program before, run a "
        "second time, trained as it did the first time.",
    ]


def describe(difference: Difference) -> str:
    return (
        f"in update {difference.index} the {difference.what} is {difference.before} before and "
        f"{difference.after} after, a relative difference of {difference.relative:.1e}"
    )
