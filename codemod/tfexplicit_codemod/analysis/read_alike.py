"""Where a state's count or learning rate reads exactly as the variable of Keras did.

Both have the variable's dtype and value. What is not the same is the object: how it prints, what
it becomes when a tensor of another dtype meets it, and that a variable follows later changes.
"""

from __future__ import annotations

import ast

from tfexplicit_codemod.analysis.learning_rates import is_number, is_schedule
from tfexplicit_codemod.analysis.names import is_builtin, qualified
from tfexplicit_codemod.analysis.source import Source

_COMPARISONS = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)
# Of two integers, Keras and TensorFlow divide in different dtypes.
_OF_FLOATS = (ast.Add, ast.Sub, ast.Mult, ast.Div)
_OF_INTEGERS = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod)
# The places of the arguments that these convert to tensors at once.
_CONVERTED = {"tensorflow.cast": ("x",), "tensorflow.summary.scalar": ("name", "data", "step")}


def reads_alike(source: Source, node: ast.expr, *, is_count: bool) -> bool:
    """True where nobody can tell the variable at `node` from a tensor or another variable."""
    parent = source.parent_of[node]
    kinds = (int,) if is_count else (int, float)
    if isinstance(parent, ast.Attribute):
        call = source.parent_of[parent]
        return parent.attr == "numpy" and isinstance(call, ast.Call) and call.func is parent
    if isinstance(parent, ast.BinOp):
        other = parent.right if parent.left is node else parent.left
        same = _OF_INTEGERS if is_count else _OF_FLOATS
        return isinstance(parent.op, same) and is_number(source, other, kinds)
    if isinstance(parent, ast.Compare):
        others = [each for each in (parent.left, *parent.comparators) if each is not node]
        are_plain = all(isinstance(each, _COMPARISONS) for each in parent.ops)
        return are_plain and all(is_number(source, each, kinds) for each in others)
    if isinstance(parent, ast.Call) and node in parent.args:
        return _takes_alike(source, parent, parent.args.index(node), is_count=is_count)
    if isinstance(parent, ast.keyword):
        call = source.parent_of[parent]
        path = qualified(source, call.func) if isinstance(call, ast.Call) else None
        is_step = parent.arg == "step" and (path or "").startswith("tensorflow.summary.")
        return is_step or parent.arg in _CONVERTED.get(path or "", ())
    return False


def _takes_alike(source: Source, call: ast.Call, place: int, *, is_count: bool) -> bool:
    if is_builtin(source, call.func, ("int", "float")) or (
        is_count and is_schedule(source, call.func)
    ):
        return len(call.args) == 1
    path = qualified(source, call.func) or ""
    return path == "tensorflow.print" or place < len(_CONVERTED.get(path, ()))
