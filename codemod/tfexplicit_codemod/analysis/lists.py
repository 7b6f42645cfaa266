"""Whether an expression is a list that is as long as the variables that it is zipped with."""

from __future__ import annotations

import ast

from tfexplicit_codemod.analysis.reaching import reaching
from tfexplicit_codemod.analysis.source import Source

ITERATORS = frozenset({"map", "filter", "zip", "reversed", "iter", "enumerate"})
VIEWS = frozenset({"values", "keys", "items"})


def is_list(source: Source, node: ast.expr) -> bool:
    """False for an iterator, a view, and a part of a list: `zip` takes them and stops early."""
    if isinstance(node, ast.Name):
        held = reaching(source, node)
        return held is None or bool(held.path) or is_list(source, held.value)
    if isinstance(node, ast.GeneratorExp):
        return False
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
        bounds = [node.slice.lower, node.slice.upper]
        return node.slice.step is None and all(_is_a_length(source, bound) for bound in bounds)
    if not isinstance(node, ast.Call):
        return True
    if isinstance(node.func, ast.Name):
        return node.func.id not in ITERATORS
    return not (isinstance(node.func, ast.Attribute) and node.func.attr in VIEWS)


def _is_a_length(source: Source, bound: ast.expr | None) -> bool:
    """True for `len(model.trainable_variables)`, which cuts a list between two models."""
    if isinstance(bound, ast.Name):
        held = reaching(source, bound)
        return held is not None and not held.path and _is_a_length(source, held.value)
    if isinstance(bound, ast.BinOp):
        return _is_a_length(source, bound.left) and _is_a_length(source, bound.right)
    return bound is None or (
        isinstance(bound, ast.Call) and isinstance(bound.func, ast.Name) and bound.func.id == "len"
    )
