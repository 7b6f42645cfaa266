"""What a dotted name stands for: `A(...)` after `from keras.optimizers import Adam as A`."""

from __future__ import annotations

import ast
from collections.abc import Collection

from tfexplicit_codemod.analysis.scopes import Binding, Scope
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

    A name imported in both branches of a `try` has several paths; the first in the text counts. Of
    plain imports one after the other, the last before the use does.
    """
    parts = dotted(node)
    if parts is None:
        return None
    scope = source.scope(node).lookup(parts[0])
    if scope is None:
        return None
    paths = imported_paths(scope, parts[0])
    if not paths:
        return None
    return ".".join((_path_before(scope, node, parts[0]) or paths[0], *parts[1:]))


def _path_before(scope: Scope, node: ast.expr, name: str) -> str | None:
    body = getattr(scope.node, "body", [])
    found = None
    for binding in scope.bindings[name]:
        if not isinstance(binding.node, ast.Import | ast.ImportFrom) or binding.node not in body:
            return None
        if binding.node.lineno < node.lineno:
            found = _path_of_import(binding.node, name)
    return found


def imported_paths(scope: Scope, name: str) -> list[str]:
    """The import paths bound to a name; none when something else binds it as well.

    `tf = None` after a failed import is no such thing. `Adam = keras.optimizers.Adam` passes a path
    on; where a name has several that way, they must be of one package.
    """
    paths: list[str] = []
    is_passed_on = False
    for binding in scope.bindings[name]:
        if isinstance(binding.value, ast.Constant) and binding.value.value is None:
            continue
        if isinstance(binding.node, ast.Import | ast.ImportFrom):
            paths.append(_path_of_import(binding.node, name))
            continue
        passed_on = _path_passed_on(scope, binding)
        if passed_on is None:
            return []
        is_passed_on = True
        paths.append(passed_on)
    one_package = len({path.partition(".")[0] for path in paths}) == 1
    return paths if one_package or not is_passed_on else []


def _path_passed_on(scope: Scope, binding: Binding) -> str | None:
    if not isinstance(binding.node, ast.Assign) or binding.path or binding.value is None:
        return None
    parts = dotted(binding.value)
    home = scope.lookup(parts[0]) if parts else None
    if parts is None or home is None or parts[0] == binding.name:
        return None
    given = home.bindings[parts[0]]
    imports = [b.node for b in given if isinstance(b.node, ast.Import | ast.ImportFrom)]
    if len(imports) != len(given):
        return None
    return ".".join((_path_of_import(imports[0], parts[0]), *parts[1:]))


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


def is_builtin(source: Source, node: ast.expr, names: Collection[str]) -> bool:
    """True for one of these functions of Python, which the file has not bound anew."""
    if not isinstance(node, ast.Name) or node.id not in names:
        return False
    return source.scope(node).lookup(node.id) is None
