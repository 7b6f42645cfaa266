"""The classes of a file: their bases, methods and the attributes that methods give to `self`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tfexplicit_codemod.analysis import frameworks
from tfexplicit_codemod.analysis.names import dotted, qualified
from tfexplicit_codemod.analysis.scopes import Scope
from tfexplicit_codemod.analysis.source import Source
from tfexplicit_codemod.surroundings import Definition

if TYPE_CHECKING:
    from tfexplicit_codemod.analysis.module import Module

Method = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, eq=False)
class AttributeBinding:
    """One store to an attribute: `self.optimizer = value`, or to one of any other object."""

    attribute: ast.Attribute
    statement: ast.stmt
    cls: ast.ClassDef | None
    method: Method | None
    value: ast.expr | None
    path: tuple[int, ...] = ()

    @property
    def whole(self) -> ast.expr | None:
        """What an assignment gives the attribute, where it unpacks nothing."""
        return None if self.path else self.value


def methods_named(name: str, classes: Iterable[ast.ClassDef]) -> Iterator[ast.FunctionDef]:
    """Those that the classes themselves have."""
    for cls in classes:
        for statement in cls.body:
            if isinstance(statement, ast.FunctionDef) and statement.name == name:
                yield statement


class Classes:
    """All classes and all attribute stores of one file."""

    def __init__(
        self, source: Source, lookup: Callable[[str], tuple[Module, Definition] | None]
    ) -> None:
        self.source = source
        self.lookup = lookup
        self.all = list(source.nodes(ast.ClassDef))
        self.stores: dict[str, list[AttributeBinding]] = {}
        for attribute in list(source.nodes(ast.Attribute)):
            if not isinstance(attribute.ctx, ast.Load):
                self.stores.setdefault(attribute.attr, []).append(self._store(attribute))

    def _store(self, attribute: ast.Attribute) -> AttributeBinding:
        statement = self.source.statement(attribute)
        cls, method = self.self_of(attribute.value) or (None, None)
        value, path = _assigned_value(statement, attribute)
        return AttributeBinding(attribute, statement, cls, method, value, path)

    def self_of(self, node: ast.expr) -> tuple[ast.ClassDef, Method] | None:
        """The class and method whose `self` this name is."""
        if not isinstance(node, ast.Name):
            return None
        scope = self.source.scope(node).lookup(node.id)
        if scope is None or len(scope.bindings[node.id]) != 1:
            return None
        method = scope.node
        if not isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef):
            return None
        cls = self.source.parent_of[method]
        parameters = [*method.args.posonlyargs, *method.args.args]
        if not isinstance(cls, ast.ClassDef) or not parameters or parameters[0].arg != node.id:
            return None
        unbound = {"staticmethod", "classmethod"}
        if any(isinstance(d, ast.Name) and d.id in unbound for d in method.decorator_list):
            return None
        return cls, method

    def called(self, scope: Scope, name: str) -> ast.ClassDef | None:
        """The class of this file that a name stands for, where nothing else binds the name."""
        bindings = scope.bindings.get(name, [])
        node = bindings[0].node if len(bindings) == 1 else None
        return node if isinstance(node, ast.ClassDef) else None

    def bases_here(self, cls: ast.ClassDef) -> Iterator[ast.ClassDef]:
        """The class, then its base classes that are defined in this file."""
        pending, seen = [cls], set[ast.ClassDef]()
        while pending:
            current = pending.pop(0)
            if current in seen:
                continue
            seen.add(current)
            yield current
            for base in current.bases:
                if isinstance(base, ast.Name):
                    scope = self.source.scope(base).lookup(base.id)
                    known = self.called(scope, base.id) if scope else None
                    if known:
                        pending.append(known)

    def imported_bases(self, cls: ast.ClassDef) -> list[str]:
        """Import paths of every base class, those of bases in the project's files included."""
        return list(self._imported_bases(cls, set()))

    def _imported_bases(self, cls: ast.ClassDef, seen: set[ast.ClassDef]) -> Iterator[str]:
        if cls in seen:
            return
        seen.add(cls)
        for base in (base for each in self.bases_here(cls) for base in each.bases):
            path = qualified(self.source, base)
            if path is None:
                continue
            yield path
            found = self.lookup(path)
            if found and isinstance(found[1], ast.ClassDef):
                yield from found[0].classes._imported_bases(found[1], seen)

    def is_keras_model(self, cls: ast.ClassDef) -> bool:
        return any(map(frameworks.is_keras_model_base, self.imported_bases(cls)))

    def bases_are_known(self, cls: ast.ClassDef) -> bool:
        """True where no base class comes from a package that we know nothing of."""
        here = set(self.bases_here(cls))
        harmless = ("object", "ABC", "Module")
        return all(
            (dotted(base) or ("",))[-1] in (*harmless, *(known.name for known in here))
            for each in here
            for base in each.bases
        )

    def related(self, cls: ast.ClassDef) -> list[ast.ClassDef]:
        """The class with its bases and its subclasses in this file: they share `self`."""
        family = set(self.bases_here(cls))
        return [c for c in self.all if c in family or cls in set(self.bases_here(c))]

    def assignments(self, cls: ast.ClassDef, attribute: str) -> list[AttributeBinding]:
        """Every store to `self.<attribute>` in the class and its relatives."""
        related = self.related(cls)
        return [store for store in self.stores.get(attribute, []) if store.cls in related]

    def stores_elsewhere(self, cls: ast.ClassDef, attribute: str) -> list[AttributeBinding]:
        """Stores to an attribute of that name on an object that may be of this class."""
        return [store for store in self.stores.get(attribute, []) if store.cls is None]


def _assigned_value(
    statement: ast.stmt, attribute: ast.Attribute
) -> tuple[ast.expr | None, tuple[int, ...]]:
    if isinstance(statement, ast.AnnAssign):
        return statement.value, ()
    if not isinstance(statement, ast.Assign):
        return None, ()
    for target in statement.targets:
        if target is attribute:
            return statement.value, ()
        if isinstance(target, ast.Tuple | ast.List) and attribute in target.elts:
            if any(isinstance(element, ast.Starred) for element in target.elts):
                return None, ()
            return statement.value, (target.elts.index(attribute),)
    return None, ()
