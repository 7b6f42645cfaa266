"""Plans the files again in which a function and its callers must change together, or not at all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from tfexplicit_codemod.analysis.contracts import Contract, Key
from tfexplicit_codemod.outcome import FileResult
from tfexplicit_codemod.project import Project

# Plans one file under the contracts asked of it; the keys are those that nobody asks for any more.
Migrate = Callable[[Path, tuple[Contract, ...], frozenset[Key]], FileResult]
MANY_ROUNDS = 50


def settled(project: Project, results: list[FileResult], migrate: Migrate) -> list[FileResult]:
    """The results with every caller in step with the functions that it calls."""
    # A notebook that calls the function cannot follow: what its cells hold is not known.
    run = frozenset(result.path for result in results if result.path.suffix != ".ipynb")
    refused: frozenset[Key] = frozenset()
    first = {r.path: migrate(r.path, (), refused) for r in results if r.asks and r.path in run}
    while first:
        agreed, failing = _round(project, run, first, migrate, refused)
        if not failing:
            return [agreed.get(result.path, result) for result in results]
        refused |= failing
        first = {path: migrate(path, (), refused) for path in {*first, *agreed}}
    return results


def _round(
    project: Project,
    run: frozenset[Path],
    first: dict[Path, FileResult],
    migrate: Migrate,
    refused: frozenset[Key],
) -> tuple[dict[Path, FileResult], frozenset[Key]]:
    """The results once no file asks for more, and the contracts that some file does not keep."""
    plans = dict(first)
    given: dict[Path, list[object]] = {}
    for _ in range(MANY_ROUNDS):
        asked = {c.key: c for result in plans.values() for c in result.asked}
        users = {key: list(project.users(key[0], key[1])) for key in asked}
        wanted: dict[Path, list[Contract]] = {}
        for key, files in users.items():
            for file in files:
                wanted.setdefault(file, []).append(asked[key])
        changed = [
            file
            for file, contracts in wanted.items()
            if file in run and given.get(file) != [c.terms for c in contracts]
        ]
        if not changed:
            failing = frozenset(key for key in asked if not _is_kept(asked[key], users[key], plans))
            return _tied(plans, users), failing
        for file in changed:
            given[file] = [contract.terms for contract in wanted[file]]
            plans[file] = migrate(file, tuple(wanted[file]), refused)
    return plans, frozenset(asked)


def _is_kept(contract: Contract, users: list[Path], plans: dict[Path, FileResult]) -> bool:
    everyone = [plans.get(file) for file in (contract.path, *users)]
    if not all(result is not None and result.outcome.is_done for result in everyone):
        # One of them is not in this run, or cannot be read.
        return False
    homes = [plans[file].kept.get(contract.key) for file in users]
    handed = contract.homes + sum(count or 0 for count in homes)
    # A function that nobody calls tells nothing of what it is given.
    is_one = handed == 1 or not contract.takes_one_optimizer
    return None not in homes and handed > 0 and is_one


def _tied(plans: dict[Path, FileResult], users: dict[Key, list[Path]]) -> dict[Path, FileResult]:
    """With the files that must be written together known to each of them."""
    ties: dict[Path, set[Path]] = {path: {path} for path in plans}
    for (path, *_), files in users.items():
        written = [
            path,
            *(file for file in files if file in plans and plans[file].is_to_be_written),
        ]
        together = set[Path]().union(*(ties[file] for file in written))
        for file in together:
            ties[file] = together
    return {
        path: replace(result, together=frozenset(ties[path]) - {path})
        for path, result in plans.items()
    }
