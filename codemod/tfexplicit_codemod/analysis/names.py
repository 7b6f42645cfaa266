"""What a dotted name stands for: `A(...)` after `from keras.optimizers import Adam as A`."""

from __future__ import annotations

import ast

from tfexplicit_codemod.analysis.scopes import Scope
from tfexplicit_codemod.analysis.source import Source


def dotted(node: ast.expr) -> tuple[str, ...] | None:
    """`a.b.c` as ("a", "b", "c"); None for anything but names and attributes."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return (node.id, *reversed(parts))


def qualified(source: Source, node: ast.expr) -> str | None:
    """The full import path of a name or attribute, or None where no import gives it.

    A name imported in both branches of a `try` has several paths; the first in the text counts.
    """
    parts = dotted(node)
    if parts is None:
        return None
    scope = source.scope(node).lookup(parts[0])
    if scope is None:
        return None
    paths = imported_paths(scope, parts[0])
    return ".".join((paths[0], *parts[1:])) if paths else None


def imported_paths(scope: Scope, name: str) -> list[str]:
    """The import paths bound to a name; none when something else binds it as well.

    `tf = None` after a failed import is no such thing.
    """
    paths: list[str] = []
    for binding in scope.bindings[name]:
        if isinstance(binding.value, ast.Constant) and binding.value.value is None:
            continue
        if not isinstance(binding.node, ast.Import | ast.ImportFrom):
            return []
        paths.append(_path_of_import(binding.node, name))
    return paths


def _path_of_import(node: ast.Import | ast.ImportFrom, name: str) -> str:
    for alias in node.names:
        if isinstance(node, ast.ImportFrom):
            if (alias.asname or alias.name) == name:
                module = f"{node.module}." if node.module else ""
                return f"{'.' * node.level}{module}{alias.name}"
        elif alias.asname == name:
            return alias.name
        elif alias.asname is None and alias.name.split(".")[0] == name:
            return name
    raise AssertionError(f"{name} is not bound by the import at line {node.lineno}")


def imported_roots(source: Source) -> frozenset[str]:
    """The top-level packages that the file imports anywhere."""
    roots: set[str] = set()
    for node in source.scope_of:
        if isinstance(node, ast.Import):
            roots.update(alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            roots.add(node.module.split(".")[0])
    return frozenset(roots)
