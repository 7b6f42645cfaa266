"""The counts of a run, made once, so that no two reports can disagree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from tfexplicit_codemod.outcome import FileResult, Outcome, Site


@dataclass(frozen=True)
class Tally:
    """`rewritten`, `left` and `ignored` count sites; a file that failed or was skipped has none.

    `ignored` sites are not among `sites`.
    """

    outcomes: dict[Outcome, int]
    rewritten: dict[str, int]
    left: dict[str, int]
    ignored: int

    @property
    def files(self) -> int:
        return sum(self.outcomes.values())

    @property
    def sites(self) -> int:
        return sum(self.rewritten.values()) + sum(self.left.values())

    @property
    def all_done(self) -> bool:
        return all(outcome.is_done for outcome, number in self.outcomes.items() if number)


def tally(results: list[FileResult]) -> Tally:
    outcomes = Counter(result.outcome for result in results)
    sites = [site for result in results for site in sites_of(result)]
    return Tally(
        outcomes={outcome: outcomes[outcome] for outcome in Outcome},
        rewritten=_by_code(site for site in sites if not site.left),
        left=_by_code(site for site in sites if site.left),
        ignored=sum(result.ignored for result in results if result.outcome.is_done),
    )


def sites_of(result: FileResult) -> tuple[Site, ...]:
    return result.sites if result.outcome.is_done else ()


def _by_code(sites: Iterable[Site]) -> dict[str, int]:
    return dict(sorted(Counter(site.code for site in sites).items()))
