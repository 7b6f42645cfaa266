"""A name that is bound anew for a second phase of a program: which of its values a read sees.

    model = make(); optimizer = Adam()      # version 1 of both
    for batch in data: step(model, optimizer)
    model = make(); optimizer = Adam()      # version 2

Python has one name; the state of an optimizer belongs to one of its values. Where all bindings
stand one after the other in one block, each is a version, and the reads after it are of it.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cached_property

from tfexplicit_codemod.analysis.definite import surely_binds
from tfexplicit_codemod.analysis.reaching import LOOPS, reaching
from tfexplicit_codemod.analysis.scopes import Binding, Scope
from tfexplicit_codemod.analysis.source import Block, Source

Defined = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
# Names of calls that run the function they are given at once.
RUNS_AT_ONCE = ("run", "experimental_run_v2")


@dataclass(frozen=True, eq=False)
class Version:
    """One value of a name: bound within the statement `block[place]`, surely or in a branch.

    `branch` tells apart two values bound in the two branches of one `if`.
    """

    number: int
    place: int
    branch: int
    bindings: tuple[Binding, ...]
    is_sure: bool


@dataclass(frozen=True, eq=False)
class Versions:
    """All versions of one name, bound in one block one after the other."""

    block: Block
    all: tuple[Version, ...]

    def at(self, place: int) -> Version | None:
        """The last version bound before a place in the block, if it is surely that one."""
        before = [version for version in self.all if version.place < place]
        return before[-1] if before and before[-1].is_sure else None

    def branch(self, place: int, branch: int) -> Version | None:
        """The version bound in one branch of an `if`."""
        key = (place, branch)
        return next((each for each in self.all if (each.place, each.branch) == key), None)

    def end_of(self, version: Version) -> int:
        """The place in the block at which the next version is bound."""
        later = [other.place for other in self.all if other.place > version.place]
        return later[0] if later else len(self.block)


class VersionTable:
    """The versions of every name of a file."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self._tables: dict[tuple[Scope, str], Versions | None] = {}
        self._active: set[ast.Name] = set()
        self._running: set[ast.AST] = set()

    def bindings(self, name: ast.Name) -> list[Binding]:
        """The bindings that a use of the name may see."""
        scope = self.source.scope(name).lookup(name.id)
        return self.bindings_of(scope, name.id, self.number(name)) if scope else []

    def bindings_of(self, scope: Scope, name: str, number: int) -> list[Binding]:
        """The bindings of one version; of all versions for number 0."""
        table = self._table(scope, name) if number else None
        if table is None:
            return scope.bindings.get(name, [])
        return list(table.all[number - 1].bindings)

    def number(self, name: ast.Name) -> int:
        """Which version a use of the name is of, from 1; 0 where it is unknown or there is one."""
        scope = self.source.scope(name).lookup(name.id)
        table = self._table(scope, name.id) if scope else None
        if scope is None or table is None or name in self._active:
            return 0
        self._active.add(name)
        try:
            version = self._of_use(name, scope, table)
        finally:
            self._active.discard(name)
        return version.number if version else 0

    def is_split(self, scope: Scope, name: str) -> bool:
        """True where the name has versions, so that a use of none may be of any."""
        return self._table(scope, name) is not None

    def number_after(self, statement: ast.stmt, scope: Scope, name: str) -> int:
        """Which version holds right after a statement of the scope."""
        table = self._table(scope, name)
        if table is None:
            return 0
        place = self._place(table.block, statement)
        if place is None:
            return 0
        here = [version for version in table.all if version.place == place]
        branch = self._branch(table.block[place], statement) if len(here) > 1 else 0
        version = table.branch(place, branch) or table.at(place)
        return version.number if version else 0

    def is_never_run(self, function: ast.FunctionDef) -> bool:
        """True for a function of the module that the file neither calls nor passes on."""
        home = self.source.scope(function)
        if home is not self.source.root or self._is_exported(function):
            return False
        own = self.number_of_definition(home, function)
        uses = [u for u in self._loads.get(function.name, []) if self._may_mean(u, home, own)]
        return not uses and (own > 0 or len(home.bindings[function.name]) == 1)

    def _may_mean(self, use: ast.Name, home: Scope, own: int) -> bool:
        is_same = self.source.scope(use).lookup(use.id) is home
        return is_same and (not own or self.number(use) in (0, own))

    # What makes a version.

    def _table(self, scope: Scope, name: str) -> Versions | None:
        key = (scope, name)
        if key not in self._tables:
            self._tables[key] = self._split(scope.bindings.get(name, []), scope)
        return self._tables[key]

    def _split(self, bindings: list[Binding], scope: Scope) -> Versions | None:
        if len(bindings) < 2 or scope.is_class or any(b.remote for b in bindings):
            return None
        statements = [self.source.statement(b.node) for b in bindings if b.is_plain]
        if len(statements) < len(bindings):
            return None
        block = self._common_block(statements)
        if block is None:
            return None
        by_place: dict[tuple[int, int], list[Binding]] = {}
        places = {self._place(block, statement) for statement in statements}
        only_within = len(places) == 1 and self._is_used_only_at(
            scope, bindings[0].name, block, places
        )
        for binding, statement in zip(bindings, statements, strict=True):
            place = self._place(block, statement)
            if place is None or isinstance(block[place], (*LOOPS, ast.ClassDef)):
                return None
            branch = self._branch(block[place], statement) if only_within else 0
            by_place.setdefault((place, branch), []).append(binding)
        if len(by_place) < 2:
            return None
        versions = []
        for number, (place, branch) in enumerate(sorted(by_place), start=1):
            bound = tuple(by_place[place, branch])
            binders = {self.source.statement(binding.node) for binding in bound}
            is_sure = surely_binds([block[place]], binders)
            versions.append(Version(number, place, branch, bound, is_sure))
        return Versions(block, tuple(versions))

    def _is_used_only_at(
        self, scope: Scope, name: str, block: Block, places: set[int | None]
    ) -> bool:
        uses = self._loads.get(name, [])
        own = (use for use in uses if self.source.scope(use).lookup(name) is scope)
        return all(self._place(block, self.source.statement(use)) in places for use in own)

    def _common_block(self, statements: list[ast.stmt]) -> Block | None:
        """The innermost block that holds all the statements."""
        chains = [self.source.statements_around(statement) for statement in statements]
        for outer in chains[0]:
            block = self.source.block(outer)
            if all(any(each in block for each in chain) for chain in chains):
                return block
        return None

    # Which version a use is of.

    def _of_use(self, name: ast.Name, scope: Scope, table: Versions) -> Version | None:
        function = self.source.function_within(name, scope)
        statement = self.source.statement(function or name)
        place = self._place(table.block, statement)
        if place is None:
            return None
        branch = self._branch(table.block[place], statement)
        here = [version for version in table.all if version.place == place]
        holding = here[0] if len(here) == 1 else table.branch(place, branch)
        if here and holding is None:
            return None
        if holding is not None:
            return self._within(name, function, holding, table)
        version = table.at(place)
        if version is None or version is table.all[-1] or function is None:
            return version
        if self._runs_only_before(function, version, table):
            return version
        return self._at_all_runs(function, table)

    def _within(
        self, name: ast.Name, function: ast.AST | None, holding: Version, table: Versions
    ) -> Version | None:
        """For a use in the very statement that binds a version."""
        if not isinstance(name.ctx, ast.Load):
            return holding
        binders = [self.source.statement(binding.node) for binding in holding.bindings]
        reader = self.source.statement(function or name)
        if reader in binders and binders == [table.block[holding.place]]:
            return table.at(holding.place) if function is None else None
        if function is not None:
            return None
        held = reaching(self.source, name)
        return holding if held and held.statement in binders else None

    def _runs_only_before(self, function: ast.AST, version: Version, table: Versions) -> bool:
        """True where a nested function cannot run once the next version is bound."""
        if not isinstance(function, ast.FunctionDef) or function in self._running:
            return function in self._running
        self._running.add(function)
        try:
            return self._all_runs_before(function, version, table)
        finally:
            self._running.discard(function)

    def _all_runs_before(
        self, function: ast.FunctionDef, version: Version, table: Versions
    ) -> bool:
        home = self.source.scope(function)
        own = self.number_of_definition(home, function)
        for use in self._loads.get(function.name, []):
            if not self._may_mean(use, home, own):
                continue
            place = self._place(table.block, self.source.statement(use))
            if place is None or place >= table.end_of(version) or not self._is_run(use):
                return False
            caller = self.source.function_within(use, home)
            if caller is not None and not self._runs_only_before(caller, version, table):
                return False
        return not self._is_exported(function)

    def _at_all_runs(self, function: ast.AST, table: Versions) -> Version | None:
        """For a function that is there before a version is bound, and runs only after that."""
        if not isinstance(function, ast.FunctionDef) or self._is_exported(function):
            return None
        home = self.source.scope(function)
        own = self.number_of_definition(home, function)
        seen: set[Version | None] = set()
        for use in self._loads.get(function.name, []):
            if self._may_mean(use, home, own):
                place = self._place(table.block, self.source.statement(use))
                is_inner = self.source.function_within(use, home) is not None
                if place is None or is_inner or not self._is_run(use):
                    return None
                seen.add(table.at(place))
        return seen.pop() if len(seen) == 1 else None

    def number_of_definition(self, home: Scope, defined: Defined) -> int:
        """Which version of its name a function or class is; 0 where the name has one only."""
        table = self._table(home, defined.name)
        versions = table.all if table else ()
        return next((v.number for v in versions for b in v.bindings if b.node is defined), 0)

    def _is_run(self, use: ast.Name) -> bool:
        """True for `step(...)` and `strategy.run(step, ...)`."""
        call = self.source.parent_of[use]
        if not isinstance(call, ast.Call):
            return False
        runs = isinstance(call.func, ast.Attribute) and call.func.attr in RUNS_AT_ONCE
        return call.func is use or (runs and use in call.args)

    def _is_exported(self, function: ast.FunctionDef) -> bool:
        return any(node.value == function.name for node in self.source.nodes(ast.Constant))

    def _branch(self, outer: ast.stmt, inner: ast.stmt) -> int:
        """1 for a statement in the `else` of an `if`, else 0."""
        around = set(self.source.around(inner))
        return int(isinstance(outer, ast.If) and bool(around & set(outer.orelse)))

    def _place(self, block: Block, statement: ast.stmt) -> int | None:
        """The place in the block of the statement that is or holds this one."""
        for outer in self.source.around(statement):
            if isinstance(outer, ast.stmt) and outer in block:
                return block.index(outer)
        return None

    @cached_property
    def _loads(self) -> dict[str, list[ast.Name]]:
        loads: dict[str, list[ast.Name]] = {}
        for name in self.source.nodes(ast.Name):
            if isinstance(name.ctx, ast.Load):
                loads.setdefault(name.id, []).append(name)
        return loads
