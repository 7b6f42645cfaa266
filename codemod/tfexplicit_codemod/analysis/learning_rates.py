"""What a constructor is given as its learning rate: a number, or a schedule that has a name."""

from __future__ import annotations

import ast

from tfexplicit_codemod.analysis.frameworks import normalised
from tfexplicit_codemod.analysis.names import is_builtin, qualified
from tfexplicit_codemod.analysis.scopes import Scope
from tfexplicit_codemod.analysis.source import Source

_NUMBER_FUNCTIONS = ("float", "int", "len", "max", "min", "abs", "round")


def learning_rate_of(constructor: ast.Call) -> ast.expr | None:
    """The argument; None where the default counts."""
    named = [each.value for each in constructor.keywords if each.arg in ("learning_rate", "lr")]
    return next(iter([*constructor.args[:1], *named]), None)


def is_number(source: Source, node: ast.expr, kinds: tuple[type, ...] = (int, float)) -> bool:
    """True for a Python number: written down, or a name that is bound to one only."""
    value = _only_value(source, node) or node
    if isinstance(value, ast.UnaryOp):
        value = value.operand
    return isinstance(value, ast.Constant) and type(value.value) in kinds


def is_no_schedule(source: Source, node: ast.expr) -> bool:
    """True for what computes a number or a tensor: with a schedule there is no arithmetic."""
    value = _only_value(source, node) or node
    if isinstance(value, ast.BinOp) or is_number(source, value):
        return True
    if not isinstance(value, ast.Call):
        return False
    is_read = isinstance(value.func, ast.Attribute) and value.func.attr == "numpy"
    return is_read or is_builtin(source, value.func, _NUMBER_FUNCTIONS)


def is_schedule(source: Source, node: ast.expr) -> bool:
    """True for a name that holds a schedule of Keras, and nothing else."""
    value = _only_value(source, node)
    path = qualified(source, value.func) if isinstance(value, ast.Call) else None
    return path is not None and normalised(path).startswith("keras.optimizers.schedules.")


def means_the_same(source: Source, name: ast.expr, at: ast.expr) -> bool:
    """True where the name stands for the same at another place, too."""
    return isinstance(name, ast.Name) and _scope(source, name) is source.scope(at).lookup(name.id)


def _only_value(source: Source, node: ast.expr) -> ast.expr | None:
    """The value of a name that is bound to one thing only."""
    if not isinstance(node, ast.Name):
        return None
    scope = _scope(source, node)
    bindings = scope.bindings[node.id] if scope else []
    is_only = len(bindings) == 1 and isinstance(bindings[0].node, ast.Assign)
    return bindings[0].whole if is_only else None


def _scope(source: Source, name: ast.Name) -> Scope | None:
    return source.scope(name).lookup(name.id)
