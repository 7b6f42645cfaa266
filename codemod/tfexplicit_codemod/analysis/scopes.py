"""Which name is bound where: Python's own scoping rules over one parsed module."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
# Fields whose nodes (`ast.Load`, `ast.Add`) are shared by the whole tree, and stand nowhere in it.
NO_PLACES = ("ctx", "op", "ops")
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


@dataclass(eq=False)
class Binding:
    """One place that binds a name.

    `value` is the expression bound by an assignment; `path` says which element of it, where the
    assignment unpacks a tuple. `remote` is true where another scope binds it, through `global`.
    """

    name: str
    kind: Literal["assign", "parameter", "import", "definition", "other"]
    node: ast.AST
    value: ast.expr | None = None
    path: tuple[int, ...] = ()
    remote: bool = False

    @property
    def whole(self) -> ast.expr | None:
        """What an assignment gives the name, where it unpacks nothing."""
        return self.value if self.kind == "assign" and not self.path else None

    @property
    def is_plain(self) -> bool:
        """False for a parameter, a loop's name, `del`, `x += 1`: no plain new value."""
        plain = ast.Assign | ast.AnnAssign | ast.FunctionDef | ast.ImportFrom | ast.Import
        return isinstance(self.node, plain)


@dataclass(eq=False)
class Scope:
    """A module, class, function or comprehension, and the names that it binds."""

    node: ast.AST
    parent: Scope | None = None
    bindings: dict[str, list[Binding]] = field(default_factory=dict)
    global_names: set[str] = field(default_factory=set)
    nonlocal_names: set[str] = field(default_factory=set)

    @property
    def is_class(self) -> bool:
        return isinstance(self.node, ast.ClassDef)

    def ancestors(self) -> Iterator[Scope]:
        """This scope, then each one around it."""
        scope: Scope | None = self
        while scope:
            yield scope
            scope = scope.parent

    def lookup(self, name: str) -> Scope | None:
        """The scope whose binding a read of `name` from here sees, or None for a builtin."""
        if name in self.global_names:
            root = list(self.ancestors())[-1]
            return root if name in root.bindings else None
        for scope in self.ancestors():
            visible = scope is self or not scope.is_class
            if visible and name in scope.bindings:
                return scope
        return None


class ScopeBuilder:
    """Fills `scope_of` (the scope that evaluates each node) and `parent_of`."""

    def __init__(self, tree: ast.Module) -> None:
        self.root = Scope(tree)
        self.scope = self.root
        self.scope_of: dict[ast.AST, Scope] = {tree: self.root}
        self.parent_of: dict[ast.AST, ast.AST] = {}
        self._nonlocal_bindings: list[tuple[Scope, Binding]] = []
        self._visitors: dict[type[ast.AST], Callable[[Any], None]] = {}
        self._visit_all(tree.body, tree)
        for scope, binding in self._nonlocal_bindings:
            self._bind_in_outer_function(scope, binding)

    def visit(self, node: ast.AST) -> None:
        self.scope_of[node] = self.scope
        kind = type(node)
        if kind not in self._visitors:
            self._visitors[kind] = getattr(self, f"visit_{kind.__name__}", self.generic_visit)
        self._visitors[kind](node)

    def generic_visit(self, node: ast.AST) -> None:
        for name in node._fields:
            if name in NO_PLACES:
                continue
            value = getattr(node, name, None)
            for child in value if isinstance(value, list) else (value,):
                if isinstance(child, ast.AST):
                    self.parent_of[child] = node
                    self.visit(child)

    def _visit_all(self, children: list[ast.stmt] | list[ast.expr], parent: ast.AST) -> None:
        for child in children:
            self.parent_of[child] = parent
            self.visit(child)

    def _inside(self, node: ast.AST) -> Scope:
        return Scope(node, self.scope)

    # What binds a name.

    def bind(self, binding: Binding) -> None:
        scope = self.scope
        while isinstance(scope.node, COMPREHENSIONS) and isinstance(binding.node, ast.NamedExpr):
            assert scope.parent is not None
            scope = scope.parent
        if binding.name in scope.nonlocal_names:
            self._nonlocal_bindings.append((scope, binding))
            return
        if binding.name in scope.global_names:
            binding.remote = scope is not self.root
            scope = self.root
        scope.bindings.setdefault(binding.name, []).append(binding)

    def _bind_in_outer_function(self, scope: Scope, binding: Binding) -> None:
        binding.remote = True
        assert scope.parent is not None
        owner = scope.parent.lookup(binding.name) or self.root
        owner.bindings.setdefault(binding.name, []).append(binding)

    def bind_target(
        self, target: ast.expr, node: ast.AST, value: ast.expr | None, path: tuple[int, ...] = ()
    ) -> None:
        """Bind every name of an assignment target; `value` None where it cannot be followed."""
        if isinstance(target, ast.Name):
            kind: Literal["assign", "other"] = "assign" if value is not None else "other"
            self.bind(Binding(target.id, kind, node, value, path))
        elif isinstance(target, ast.Tuple | ast.List):
            starred = any(isinstance(element, ast.Starred) for element in target.elts)
            for index, element in enumerate(target.elts):
                known = None if starred else value
                self.bind_target(element, node, known, (*path, index))
        elif isinstance(target, ast.Starred):
            self.bind_target(target.value, node, None)

    def visit_Assign(self, node: ast.Assign) -> None:
        self.generic_visit(node)
        for target in node.targets:
            self.bind_target(target, node, node.value)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self.generic_visit(node)
        if node.value is not None:
            self.bind_target(node.target, node, node.value)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self.generic_visit(node)
        self.bind_target(node.target, node, None)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self.generic_visit(node)
        self.bind_target(node.target, node, node.value)

    def visit_For(self, node: ast.For | ast.AsyncFor) -> None:
        self.bind_target(node.target, node, None)
        self.generic_visit(node)

    visit_AsyncFor = visit_For

    def visit_With(self, node: ast.With | ast.AsyncWith) -> None:
        for item in node.items:
            if item.optional_vars is not None:
                self.bind_target(item.optional_vars, node, None)
        self.generic_visit(node)

    visit_AsyncWith = visit_With

    def visit_Delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            self.bind_target(target, node, None)
        self.generic_visit(node)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.name:
            self.bind(Binding(node.name, "other", node))
        self.generic_visit(node)

    def visit_MatchAs(self, node: ast.MatchAs) -> None:
        if node.name:
            self.bind(Binding(node.name, "other", node))
        self.generic_visit(node)

    def visit_MatchStar(self, node: ast.MatchStar) -> None:
        if node.name:
            self.bind(Binding(node.name, "other", node))

    def visit_MatchMapping(self, node: ast.MatchMapping) -> None:
        if node.rest:
            self.bind(Binding(node.rest, "other", node))
        self.generic_visit(node)

    def visit_Import(self, node: ast.Import | ast.ImportFrom) -> None:
        for alias in node.names:
            name = alias.asname or alias.name.split(".")[0]
            self.bind(Binding(name, "import", node))

    visit_ImportFrom = visit_Import

    def visit_Global(self, node: ast.Global) -> None:
        self.scope.global_names.update(node.names)

    def visit_Nonlocal(self, node: ast.Nonlocal) -> None:
        self.scope.nonlocal_names.update(node.names)

    # What opens a scope.

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self.bind(Binding(node.name, "definition", node))
        self._visit_all(node.decorator_list, node)
        if node.returns:
            self._visit_all([node.returns], node)
        self._function(node, node.body)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self._function(node, [node.body])

    def _function(self, node: Function, body: list[ast.stmt] | list[ast.expr]) -> None:
        self.parent_of[node.args] = node
        self.visit(node.args)
        outer, self.scope = self.scope, self._inside(node)
        arguments = node.args
        optional = [arguments.vararg, arguments.kwarg]
        plain = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        for parameter in [*plain, *(argument for argument in optional if argument)]:
            self.bind(Binding(parameter.arg, "parameter", parameter))
        self._visit_all(body, node)
        self.scope = outer

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.bind(Binding(node.name, "definition", node))
        self._visit_all([*node.decorator_list, *node.bases], node)
        for keyword in node.keywords:
            self.parent_of[keyword] = node
            self.visit(keyword)
        outer, self.scope = self.scope, self._inside(node)
        self._visit_all(node.body, node)
        self.scope = outer

    def _comprehension(
        self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
    ) -> None:
        first = node.generators[0]
        self.parent_of[first] = node
        self._visit_all([first.iter], first)
        outer, self.scope = self.scope, self._inside(node)
        self.scope_of[first] = self.scope
        for generator in node.generators:
            self.parent_of[generator] = node
            self.scope_of[generator] = self.scope
            self.bind_target(generator.target, generator, None)
            inner = [generator.target, *generator.ifs]
            self._visit_all(inner if generator is first else [*inner, generator.iter], generator)
        results = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        self._visit_all(results, node)
        self.scope = outer

    visit_ListComp = _comprehension
    visit_SetComp = _comprehension
    visit_DictComp = _comprehension
    visit_GeneratorExp = _comprehension
