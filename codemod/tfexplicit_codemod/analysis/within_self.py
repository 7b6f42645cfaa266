"""Lists that a compiled model puts together from parts of itself: its state has all of them."""

from __future__ import annotations

import ast

from tfexplicit_codemod.analysis.changes import is_changed_in_place
from tfexplicit_codemod.analysis.keras_models import TRAINABLE
from tfexplicit_codemod.analysis.module import Module


def is_within_self(module: Module, cls: ast.ClassDef, node: ast.expr) -> bool:
    """True where each variable of the list is one of a layer below `self`."""
    return _is_within(module, cls, node, frozenset())


def _is_within(
    module: Module, cls: ast.ClassDef, node: ast.expr, seen: frozenset[ast.expr]
) -> bool:
    if node in seen:
        return False
    seen |= {node}
    if isinstance(node, ast.Attribute):
        return node.attr in TRAINABLE and _is_of_self(module, cls, node.value)
    parts: list[ast.expr | None] = []
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        parts = [node.left, node.right]
    elif isinstance(node, ast.IfExp):
        parts = [node.body, node.orelse]
    elif isinstance(node, ast.Name) and not is_changed_in_place(module.source, node):
        scope = module.source.scope(node)
        bindings = scope.bindings.get(node.id, [])
        parts = [
            b.value if isinstance(b.node, ast.Assign) and not b.path else None for b in bindings
        ]
    return bool(parts) and all(
        part is not None and _is_within(module, cls, part, seen) for part in parts
    )


def _is_of_self(module: Module, cls: ast.ClassDef, node: ast.expr) -> bool:
    """True for `self`, `self.encoder`, `self.heads[0]`."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    own = module.classes.self_of(node)
    return own is not None and own[0] in module.classes.related(cls)
