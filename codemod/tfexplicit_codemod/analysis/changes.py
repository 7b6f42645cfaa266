"""Whether a list or dict changes after it was made: `v.append(w)`, `v[0] = w`, `v += [w]`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tfexplicit_codemod.analysis.source import Source

CHANGES = frozenset(
    {"append", "extend", "insert", "remove", "pop", "clear", "sort", "reverse"}
    | {"update", "setdefault", "popitem"}
)


def is_changed(source: Source, name: ast.Name) -> bool:
    """True where anything on the name changes what it holds."""
    grows = any(isinstance(outer, ast.AugAssign) for outer in _uses(source, name))
    return grows or is_changed_in_place(source, name)


def is_changed_in_place(source: Source, name: ast.Name) -> bool:
    """True for a method that changes it, and for an element that is set."""
    return any(
        (isinstance(outer, ast.Attribute) and outer.attr in CHANGES)
        or (isinstance(outer, ast.Subscript) and not isinstance(outer.ctx, ast.Load))
        for outer in _uses(source, name)
    )


def _uses(source: Source, name: ast.Name) -> Iterator[ast.AST]:
    """What stands around each use of the name: `v.append`, `v[0]`, `v += w`."""
    home = source.scope(name).lookup(name.id)
    for other in source.nodes(ast.Name):
        if other.id == name.id and source.scope(other).lookup(other.id) is home:
            outer = source.parent_of[other]
            if not isinstance(outer, ast.AugAssign) or outer.target is other:
                yield outer
