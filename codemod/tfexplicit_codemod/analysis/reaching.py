"""The assignment that a name still holds where it is read, within one function."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from tfexplicit_codemod.analysis.scopes import Binding
from tfexplicit_codemod.analysis.source import Source

LOOPS = (ast.For, ast.AsyncFor, ast.While)


@dataclass(frozen=True)
class Reaching:
    """`value`, or its element at `path`, is what the name holds; `statement` bound it."""

    value: ast.expr
    path: tuple[int, ...]
    statement: ast.stmt


def reaching(source: Source, name: ast.Name) -> Reaching | None:
    """The last assignment before a read of `name`; None where more than one could be the last."""
    scope = source.scope(name).lookup(name.id)
    if scope is None:
        return None
    binders = {
        source.statement(b.node) if not isinstance(b.node, ast.stmt) else b.node: b
        for b in scope.bindings[name.id]
        if not isinstance(b.node, ast.arg)
    }
    for statement in source.statements_around(source.statement(name)):
        block = source.block(statement)
        for earlier in reversed(block[: block.index(statement)]):
            if earlier in binders or _binds_inside(source, earlier, binders):
                return _last_in(source, earlier, binders)
        outer = source.parent_of[statement]
        if isinstance(outer, LOOPS) and _binds_inside(source, outer, binders):
            return None
        if outer in binders:
            return None
    return None


def _last_in(
    source: Source, statement: ast.stmt, binders: dict[ast.stmt, Binding]
) -> Reaching | None:
    """The last assignment in a statement that binds the name: it, or one in the `with` it is."""
    if statement in binders:
        return _plain_assignment(statement, binders[statement])
    if isinstance(statement, ast.With):
        for inner in reversed(statement.body):
            if inner in binders or _binds_inside(source, inner, binders):
                return _last_in(source, inner, binders)
    return None


def _binds_inside(source: Source, outer: ast.stmt, binders: dict[ast.stmt, Binding]) -> bool:
    return any(outer in source.statements_around(binder)[1:] for binder in binders)


def _plain_assignment(statement: ast.stmt, binding: Binding) -> Reaching | None:
    if not isinstance(statement, ast.Assign | ast.AnnAssign) or binding.value is None:
        return None
    return Reaching(binding.value, binding.path, statement)
