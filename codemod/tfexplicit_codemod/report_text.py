"""The report that a person reads: the sites, what became of the files, and what to run next."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator

from tfexplicit_codemod.outcome import FileResult, Site
from tfexplicit_codemod.registry import rule_for
from tfexplicit_codemod.run import Run
from tfexplicit_codemod.tally import Tally, sites_of

PLACE = re.compile(r"(\d+:\d+): ")


def report(run: Run) -> str:
    """Everything that needs a person, then the counts and the next step."""
    sites = lines_of_all_sites if run.command == "check" else lines_of_sites_left
    lines = [*sites(run.results), *lines_of_files_not_done(run.results)]
    if not run.quiet:
        lines += [*_table_of_codes(run), *lines_of_counts(run), *_next(run)]
    return "\n".join(lines)


def lines_of_all_sites(results: list[FileResult]) -> Iterator[str]:
    for result in results:
        for site in sites_of(result):
            yield _line_of(result, site)


def lines_of_sites_left(results: list[FileResult]) -> Iterator[str]:
    for result in results:
        for site in sites_of(result):
            if site.left:
                yield _line_of(result, site)


def lines_of_files_not_done(results: list[FileResult]) -> Iterator[str]:
    for result in results:
        if not result.outcome.is_done:
            # The place in the file belongs to the path.
            place, reason = place_and_reason(result)
            colon = ":" if place else ""
            yield f"{result.path}{colon}{place}: {result.outcome.value}: {reason}"


def place_and_reason(result: FileResult) -> tuple[str, str]:
    """`line:column`, which a reason may start with, and the rest of the reason."""
    place = PLACE.match(result.reason)
    return (place[1], result.reason[place.end() :]) if place else ("", result.reason)


def lines_of_counts(run: Run) -> list[str]:
    """The totals, as every report for people has them."""
    counts = run.counts
    files = ", ".join(
        f"{number} {run.became(outcome)}" for outcome, number in counts.outcomes.items() if number
    )
    ignored = f", {counts.ignored} ignored" if counts.ignored else ""
    number_rewritten, number_left = sum(counts.rewritten.values()), sum(counts.left.values())
    return [
        f"{_plural(counts.files, 'file')}: {files or 'nothing to look at'}",
        f"{_plural(counts.sites, 'site')}: {number_rewritten} {run.rewritten}, {number_left} left"
        + ignored,
    ]


def rows_of_codes(run: Run) -> list[tuple[str, str, str, str]]:
    """Code, name, number of sites and what becomes of them."""
    outcomes = ((run.rewritten, run.counts.rewritten), ("left", run.counts.left))
    return [
        (code, rule_for(code).name, str(number), outcome)
        for outcome, by_code in outcomes
        for code, number in by_code.items()
    ]


def _table_of_codes(run: Run) -> Iterable[str]:
    if not run.counts.sites:
        return
    rows = [("code", "what it is", "sites", "outcome"), *rows_of_codes(run)]
    code, name, sites, _ = (max(map(len, column)) for column in zip(*rows, strict=True))
    yield ""
    for row in rows:
        yield f"{row[0]:{code}}  {row[1]:{name}}  {row[2]:>{sites}}  {row[3]}"
    yield ""


def _next(run: Run) -> Iterator[str]:
    paths = shlex.join(map(str, run.paths))
    counts: Tally = run.counts
    is_written = any(result.is_to_be_written for result in run.results)
    if run.command == "check" and counts.rewritten:
        yield f"Next: tfexplicit diff {paths}"
    if run.command == "diff" and counts.rewritten:
        yield f"Next: tfexplicit migrate {paths}"
    if counts.left and (run.command == "migrate" or not counts.rewritten):
        code = next(iter(counts.left))
        yield f"Next: tfexplicit explain {code}   # what to do about a site that was left"
    if run.command == "migrate" and is_written:
        yield "Next: run your formatter and your tests, then commit"


def _line_of(result: FileResult, site: Site) -> str:
    text = " ".join(site.text.split())
    space = "" if site.cell is None else " "
    reason = f": left: {site.reason}" if site.left else ""
    return f"{result.path}:{space}{site.place}: {site.code} {text}{reason}"


def _plural(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
