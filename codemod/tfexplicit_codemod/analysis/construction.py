"""How an object comes to be: which methods run, in which order, and what its class allows."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from tfexplicit_codemod.analysis.classes import Classes, Method
from tfexplicit_codemod.analysis.source import Source

STEPS = ("apply_gradients", "apply", "minimize")


class Construction:
    """What is known of the methods of one class and its relatives in the file."""

    def __init__(self, source: Source, classes: Classes) -> None:
        self.source = source
        self.classes = classes

    def takes_new_attributes(self, cls: ast.ClassDef) -> bool:
        """False where `self.opt_state = ...` may fail or do something else."""
        return not any(
            _binds(statement, "__slots__") or _is_named(statement, "__setattr__")
            for base in self.classes.bases_here(cls)
            for statement in base.body
        ) and not any(
            keyword.arg in ("slots", "frozen")
            for base in self.classes.bases_here(cls)
            for decorator in base.decorator_list
            for keyword in getattr(decorator, "keywords", ())
        )

    def is_set_by_name(self, attribute: str) -> bool:
        """True for `setattr(x, "optimizer", ...)` anywhere in the file."""
        return any(
            isinstance(call.func, ast.Name | ast.Attribute)
            and getattr(call.func, "id", getattr(call.func, "attr", ""))
            in ("setattr", "__setattr__", "delattr", "__delattr__")
            and any(isinstance(a, ast.Constant) and a.value == attribute for a in call.args)
            for call in self.source.nodes(ast.Call)
        )

    def always_ran(self, init: Method, maker: Method, set_at: int) -> bool:
        """True where no object can run `maker` before line `set_at` of `init` has run."""
        cls = self._class_of(init)
        if cls not in set(self.classes.bases_here(self._class_of(maker))):
            return False
        reach = self.reaching(cls, {maker.name}, but=init)
        if any(use.attr in reach and use.lineno <= set_at for use in _attributes(init)):
            return False
        return all(
            self._starts_with_base(other, reach)
            for other in self._methods(cls, "__init__")
            if other is not init and cls in set(self.classes.bases_here(self._class_of(other)))
        )

    def is_overridden(self, method: Method, maker: Method) -> bool:
        """True where an object that runs `maker` may have another method of that name, or none."""
        cls = self._class_of(method)
        if cls not in set(self.classes.bases_here(self._class_of(maker))):
            return True
        return any(other is not method for other in self._methods(cls, method.name))

    def reaching(
        self, cls: ast.ClassDef, names: Collection[str], but: Method | None = None
    ) -> set[str]:
        """The names, and those of the methods that use one of them, directly or not."""
        found = set(names)
        methods = [method for method in self._methods(cls) if method is not but]
        while True:
            more = {m.name for m in methods if found & {use.attr for use in _attributes(m)}}
            if more <= found:
                return found
            found |= more

    def _starts_with_base(self, init: Method, reach: set[str]) -> bool:
        """True where `super().__init__()` stands before anything that leads to the maker."""
        for statement in init.body:
            used = {use.attr for use in _attributes(statement)}
            if "__init__" in used:
                return isinstance(statement, ast.Expr)
            if used & reach:
                return False
        return False

    def _methods(self, cls: ast.ClassDef, name: str | None = None) -> Iterator[Method]:
        for related in self.classes.related(cls):
            for statement in related.body:
                if isinstance(statement, Method) and name in (None, statement.name):
                    yield statement

    def _class_of(self, method: Method) -> ast.ClassDef:
        cls = self.source.parent_of[method]
        assert isinstance(cls, ast.ClassDef)
        return cls


def _attributes(node: ast.AST) -> Iterator[ast.Attribute]:
    return (inner for inner in ast.walk(node) if isinstance(inner, ast.Attribute))


def _is_named(statement: ast.stmt, name: str) -> bool:
    return isinstance(statement, Method) and statement.name == name


def _binds(statement: ast.stmt, name: str) -> bool:
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    if isinstance(statement, ast.AnnAssign):
        targets = [statement.target]
    return any(isinstance(target, ast.Name) and target.id == name for target in targets)
