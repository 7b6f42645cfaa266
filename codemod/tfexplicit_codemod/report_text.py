"""The report that a person reads: the sites, what became of the files, and what to run next."""

from __future__ import annotations

import re
from collections.abc import Iterable

from rich.console import Console
from rich.table import Table

from tfexplicit_codemod.outcome import FileResult, Site
from tfexplicit_codemod.registry import rule_for
from tfexplicit_codemod.tally import Tally, sites_of, tally

PLACE = re.compile(r"(\d+:\d+): ")


def print_report(console: Console, results: list[FileResult], rewritten: str) -> None:
    """Everything that needs a person, then the counts. `rewritten`: the word for such a site."""
    print_lines(console, lines_of_sites_left(results))
    print_lines(console, lines_of_files_not_done(results))
    print_summary(console, tally(results), rewritten)


def lines_of_all_sites(results: list[FileResult]) -> Iterable[str]:
    for result in results:
        for site in sites_of(result):
            yield _line_of(result, site)


def lines_of_sites_left(results: list[FileResult]) -> Iterable[str]:
    for result in results:
        for site in sites_of(result):
            if site.left:
                yield _line_of(result, site)


def lines_of_files_not_done(results: list[FileResult]) -> Iterable[str]:
    for result in results:
        if not result.outcome.is_done:
            # A reason may start with the place in the file, which belongs to the path.
            place = PLACE.match(result.reason)
            line_and_column = f":{place[1]}" if place else ""
            reason = result.reason[place.end() :] if place else result.reason
            yield f"{result.path}{line_and_column}: {result.outcome.value}: {reason}"


def print_lines(console: Console, lines: Iterable[str]) -> None:
    """Prints each line whole and as it is: paths must survive a narrow terminal and grep."""
    for line in lines:
        console.print(line, markup=False, highlight=False, emoji=False, soft_wrap=True)


def print_summary(console: Console, counts: Tally, rewritten: str) -> None:
    if counts.sites:
        console.print(_table_of_codes(counts, rewritten))
    files = ", ".join(
        f"{number} {outcome.value}" for outcome, number in counts.outcomes.items() if number
    )
    print_lines(console, [f"{_plural(counts.files, 'file')}: {files or 'nothing to look at'}"])
    number_rewritten, number_left = sum(counts.rewritten.values()), sum(counts.left.values())
    sites = f"{_plural(counts.sites, 'site')}: {number_rewritten} {rewritten}, {number_left} left"
    print_lines(console, [sites])


def _table_of_codes(counts: Tally, rewritten: str) -> Table:
    table = Table("code", "what it is", "sites", "outcome")
    table.columns[2].justify = "right"
    for outcome, by_code in ((rewritten, counts.rewritten), ("left", counts.left)):
        for code, number in by_code.items():
            table.add_row(code, rule_for(code).name, str(number), outcome)
    return table


def _line_of(result: FileResult, site: Site) -> str:
    text = " ".join(site.text.split())
    reason = f": left: {site.reason}" if site.left else ""
    return f"{result.path}:{site.line}:{site.column}: {site.code} {text}{reason}"


def _plural(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
