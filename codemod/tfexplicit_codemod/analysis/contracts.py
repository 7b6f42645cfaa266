"""A function of one file that takes a state, if every caller in other files passes one.

The file of the function asks for a contract; each other file that uses the function keeps it or
breaks it. `agreements.py` plans the files again until all of them agree.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path

from tfexplicit_codemod.analysis.groups import Group, Handover
from tfexplicit_codemod.analysis.module import Module
from tfexplicit_codemod.analysis.names import qualified
from tfexplicit_codemod.analysis.parameters import Parameter, Parameters
from tfexplicit_codemod.analysis.references import Reference
from tfexplicit_codemod.analysis.source import Source
from tfexplicit_codemod.analysis.variables import Part
from tfexplicit_codemod.leave import Leave

Key = tuple[Path, str, str]


@dataclass(frozen=True)
class Contract:
    """`parameter` of the function of a file takes the state named `state`, over `parts`.

    `homes` counts the optimizers that callers in the function's own file hand over; `is_beside`
    is true where the function takes the state beside the optimizer.
    """

    path: Path
    parameter: Parameter
    home: Reference
    state: str
    parts: tuple[Part, ...]
    homes: int
    is_beside: bool

    @property
    def key(self) -> Key:
        return self.path, self.parameter.function.name, self.parameter.name.arg

    @property
    def terms(self) -> object:
        """Equal for two plans of the function's file that ask the same of callers."""
        parts = [(p.is_model, p.is_named_list, [r.path for r in p.references]) for p in self.parts]
        return self.key, self.state, self.is_beside, str(parts)

    @property
    def takes_one_optimizer(self) -> bool:
        """Keras makes its slots when a traced function first runs: a second optimizer fails."""
        return bool(self.parameter.function.decorator_list)


class KeptContracts:
    """The contracts asked of one file, the calls that keep them, and those it breaks."""

    def __init__(
        self, contracts: tuple[Contract, ...], module: Module, parameters: Parameters
    ) -> None:
        self.by_home = {contract.home: contract for contract in contracts}
        self.handovers: list[Handover] = []
        self.broken: dict[Key, str] = {}
        for contract in contracts:
            calls = _calls(contract, module)
            if calls is None:
                function = contract.parameter.function.name
                self.broken[contract.key] = f"`{function}` is used in ways that are not followed"
                continue
            group, parts = Group(contract.home, []), list(contract.parts)
            try:
                self.handovers += [
                    parameters.handover(group, parts, contract.parameter, call) for call in calls
                ]
            except Leave as leave:
                self.broken[contract.key] = leave.reason

    def joined_to(self, groups: list[Group]) -> list[Group]:
        """The groups with these calls, and groups for what only such calls step."""
        by_home = {group.home: group for group in groups}
        for each in self.handovers:
            by_home.setdefault(each.home, Group(each.home, [])).handed.append(each)
        return list(by_home.values())

    def break_those_of(self, component: list[Group], reason: str) -> None:
        """For optimizers whose state cannot be made here."""
        for each in (each for group in component for each in group.handed):
            if each.parameter in self.by_home:
                self.broken.setdefault(self.by_home[each.parameter].key, reason)

    def state_of(self, parameter: Reference) -> str:
        """The name that the parameter of the other file's function has now."""
        return self.by_home[parameter].state

    @property
    def beside(self) -> set[Reference]:
        """The parameters of other files' functions that keep the optimizer beside the state."""
        return {home for home, contract in self.by_home.items() if contract.is_beside}

    def kept(self) -> dict[Key, int]:
        """The contracts that the file keeps, with how many optimizers it hands over."""
        homes: dict[Key, set[Reference]] = {c.key: set() for c in self.by_home.values()}
        for each in self.handovers:
            homes[self.by_home[each.parameter].key].add(each.home)
        return {key: len(found) for key, found in homes.items() if key not in self.broken}


def _calls(contract: Contract, module: Module) -> list[ast.Call] | None:
    """All calls of the function, or None where the file also uses it in another way."""
    source, name = module.source, contract.parameter.function.name
    if _may_be_used_by_name(source, name):
        return None
    calls: list[ast.Call] = []
    for node in (*source.nodes(ast.Name), *source.nodes(ast.Attribute)):
        path = qualified(source, node)
        if path is None or path.rpartition(".")[2] != name or not _is_outermost(source, node):
            continue
        found = module.lookup(path)
        if found is None:
            return None
        if found[0].path != contract.path:
            continue
        call = source.parent_of[node]
        if not isinstance(call, ast.Call) or call.func is not node:
            return None
        calls.append(call)
    return calls


def _is_outermost(source: Source, node: ast.expr) -> bool:
    """False for the `step` of `step.step`: a module may have the name of its function."""
    outer = source.parent_of[node]
    return not (isinstance(outer, ast.Attribute) and outer.value is node)


def _may_be_used_by_name(source: Source, name: str) -> bool:
    """True for the name in a string (`__all__`, `getattr`), and for names that say nothing of it:
    `from steps import *`, or `as` another name, under which a third file may import it."""
    for alias in (alias for node in source.nodes(ast.ImportFrom) for alias in node.names):
        if alias.name == "*" or (alias.name == name and alias.asname not in (None, name)):
            return True
    return any(constant.value == name for constant in source.nodes(ast.Constant))
