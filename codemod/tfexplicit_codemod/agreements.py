"""Plans the files again in which a function and its callers must change together, or not at all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from tfexplicit_codemod.analysis.contracts import Contract, Key
from tfexplicit_codemod.outcome import FileResult
from tfexplicit_codemod.project import Project
from tfexplicit_codemod.rules import tx201_optimizer_parameter

# Plans one file under the contracts asked of it; the keys are those that nobody asks for any
# more, with the reason.
Migrate = Callable[[Path, tuple[Contract, ...], Mapping[Key, str]], FileResult]
MANY_ROUNDS = 50


def settled(project: Project, results: list[FileResult], migrate: Migrate) -> list[FileResult]:
    """The results with every caller in step with the functions that it calls."""
    # A notebook that calls the function cannot follow: what its cells hold is not known.
    run = frozenset(result.path for result in results if result.path.suffix != ".ipynb")
    refused: dict[Key, str] = {}
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
    refused: Mapping[Key, str],
) -> tuple[dict[Path, FileResult], dict[Key, str]]:
    """The results once no file asks for more; the contracts that some file breaks, with why."""
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
            whys = {key: _why_broken(asked[key], users[key], plans, refused) for key in asked}
            return _tied(plans, users), {key: why for key, why in whys.items() if why}
        for file in changed:
            given[file] = [contract.terms for contract in wanted[file]]
            plans[file] = migrate(file, tuple(wanted[file]), refused)
    return plans, {key: _reason(asked[key], "is also given by other files") for key in asked}


def _why_broken(
    contract: Contract,
    users: list[Path],
    plans: dict[Path, FileResult],
    refused: Mapping[Key, str],
) -> str | None:
    """What keeps the callers from passing a state; where another file does, it is named once."""
    for file in users:
        result = plans.get(file)
        if result is None or not result.outcome.is_done:
            # It is not in this run, cannot be read, or is a notebook.
            return _reason(contract, f"is also given by {file.name}, which is not followed")
        why = result.broken.get(contract.key)
        if why is not None:
            return why if why in refused.values() else f"{why} (in {file.name})"
    handed = contract.homes + sum(plans[file].kept[contract.key] for file in users)
    if not handed:
        # A function that nobody calls tells nothing of what it is given.
        return _reason(contract, "comes from callers out of sight")
    if handed > 1 and contract.takes_one_optimizer:
        return _reason(contract, "is another one at each call of a traced function")
    return None


def _reason(contract: Contract, why: str) -> str:
    parameter = contract.parameter
    return tx201_optimizer_parameter.leave(parameter.name.arg, parameter.function.name, why).reason


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
