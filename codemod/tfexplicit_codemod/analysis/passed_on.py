"""Pairs of gradients and variables that helpers change before the update.

    pairs = list(zip(grads, model.trainable_variables))
    if clip is not None:
        pairs = clip_gradient_norms(pairs, clip)
    optimizer.apply_gradients(pairs)

A helper that goes over the pairs and gives each variable back, in order, changes gradients only.
"""

from __future__ import annotations

import ast

from tfexplicit_codemod.analysis.module import Module
from tfexplicit_codemod.analysis.names import qualified
from tfexplicit_codemod.analysis.reaching import reaching
from tfexplicit_codemod.analysis.scopes import Binding


class PassedOn:
    """Finds what a name of pairs was made as, behind the helpers."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.source = module.source

    def made(self, name: ast.Name) -> ast.expr | None:
        """The pairs that the name holds where it is read; None where that is not sure."""
        held = reaching(self.source, name)
        if held is not None:
            return None if held.path else held.value
        scope = self.source.scope(name).lookup(name.id)
        bindings = scope.bindings[name.id] if scope else []
        if not bindings or not all(map(self._is_changed_by_helper, bindings[1:])):
            return None
        made = self.source.statement(bindings[0].node)
        around = self.source.statements_around(self.source.statement(name))
        blocks = [self.source.block(statement) for statement in around]
        return _value(bindings[0]) if any(made in block for block in blocks) else None

    def _is_changed_by_helper(self, binding: Binding) -> bool:
        call = _value(binding)
        if not isinstance(call, ast.Call) or not call.args:
            return False
        function, given = self._function(call.func), call.args[0]
        is_same = isinstance(given, ast.Name) and given.id == binding.name
        return is_same and function is not None and _keeps_variables(function)

    def _function(self, called: ast.expr) -> ast.FunctionDef | None:
        if isinstance(called, ast.Name):
            scope = self.source.scope(called).lookup(called.id)
            bindings = scope.bindings[called.id] if scope else []
            if len(bindings) == 1 and isinstance(bindings[0].node, ast.FunctionDef):
                return bindings[0].node
        path = qualified(self.source, called)
        found = self.module.lookup(path) if path else None
        return found[1] if found and isinstance(found[1], ast.FunctionDef) else None


def _value(binding: Binding) -> ast.expr | None:
    is_plain = isinstance(binding.node, ast.Assign) and not binding.path
    return binding.value if is_plain else None


def _keeps_variables(function: ast.FunctionDef) -> bool:
    """True for `new = []`, one loop over the pairs that ends in `new.append((g, v))`, `return new`.

    Nothing else may use `new`, bind `v` or leave the loop.
    """
    loops = [statement for statement in function.body if isinstance(statement, ast.For)]
    last = function.body[-1]
    if len(loops) != 1 or not isinstance(last, ast.Return) or not isinstance(last.value, ast.Name):
        return False
    loop, new = loops[0], last.value.id
    target, first = loop.target, function.args.args[:1]
    if not isinstance(target, ast.Tuple) or len(target.elts) != 2 or not first:
        return False
    nodes = list(ast.walk(function))
    names = [node for node in nodes if isinstance(node, ast.Name)]
    stays = not any(isinstance(n, ast.Continue | ast.Break | ast.Yield) for n in nodes)
    is_only_return = sum(isinstance(node, ast.Return) for node in nodes) == 1
    variable = getattr(target.elts[1], "id", "")
    is_bound_once = sum(n.id == variable and isinstance(n.ctx, ast.Store) for n in names) == 1
    return (
        stays
        and is_only_return
        and is_bound_once
        and getattr(loop.iter, "id", "") == first[0].arg
        and any(ast.unparse(statement) == f"{new} = []" for statement in function.body)
        and sum(name.id == new for name in names) == 3
        and _appends(loop.body[-1], new, variable)
    )


def _appends(statement: ast.stmt, new: str, variable: str) -> bool:
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or ast.unparse(call.func) != f"{new}.append":
        return False
    pair = call.args[0] if len(call.args) == 1 else None
    if not isinstance(pair, ast.Tuple) or len(pair.elts) != 2:
        return False
    return getattr(pair.elts[1], "id", "") == variable
