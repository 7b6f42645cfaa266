"""What `optimizer.minimize(loss, var_list)` minimizes: a function, or a value and its tape."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from tfexplicit_codemod.analysis.source import Source
from tfexplicit_codemod.rules import tx208_minimize


@dataclass(frozen=True)
class Minimized:
    """`loss` is code: of a function without arguments, or with a tape of the value it recorded."""

    loss: str
    variables: ast.expr
    tape: str | None = None
    # True if the optimizer may be one that takes the gradients of a loss that it has scaled.
    may_scale: bool = False


def minimized(
    source: Source, loss: ast.expr, variables: ast.expr, tape: ast.expr | None
) -> Minimized:
    if isinstance(variables, ast.Lambda) and not _takes_something(variables):
        variables = variables.body
    if tape is None:
        return Minimized(_function_of_nothing(source, loss), variables)
    if not _is_value(source, loss):
        raise tx208_minimize.leave(
            "minimize", f"gets `{source.one_line(loss)}`, which may be a function"
        )
    return Minimized(source.segment(loss), variables, source.segment(tape))


def _function_of_nothing(source: Source, loss: ast.expr) -> str:
    """`tx.minimize` calls a function that can take an argument with the model; Keras never does."""
    text = source.segment(loss)
    if isinstance(loss, ast.Lambda):
        return text if not _takes_something(loss) else f"lambda: ({text})()"
    if isinstance(loss, ast.Name):
        scope = source.scope(loss).lookup(loss.id)
        bindings = scope.bindings[loss.id] if scope else []
        if all(_is_plain_function(binding.node) for binding in bindings):
            return text
    if isinstance(loss, ast.Name | ast.Attribute):
        return f"lambda: {text}()"
    # What makes the function must run once, before the tape, as it did.
    raise tx208_minimize.leave(
        "minimize", f"gets `{source.one_line(loss)}`, which is not a plain name"
    )


def _is_plain_function(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.FunctionDef)
        and not _takes_something(node)
        and not isinstance(node, ast.AsyncFunctionDef)
    )


def _takes_something(function: ast.Lambda | ast.FunctionDef) -> bool:
    given = function.args
    return bool(given.posonlyargs or given.args or given.kwonlyargs or given.vararg or given.kwarg)


def _is_value(source: Source, loss: ast.expr) -> bool:
    """True for a name that is assigned the value of an operation or a call."""
    if not isinstance(loss, ast.Name):
        return False
    scope = source.scope(loss).lookup(loss.id)
    bindings = scope.bindings[loss.id] if scope else []
    values = [binding.value for binding in bindings if binding.kind == "assign"]
    operations = (ast.BinOp, ast.Call)
    assigned = [value for value in values if isinstance(value, operations)]
    added = [b for b in bindings if isinstance(b.node, ast.AugAssign)]
    return bool(assigned) and len(assigned) + len(added) == len(bindings)
