"""Whether a file may compile an object of a class: whose optimizer Keras then replaces."""

from __future__ import annotations

import ast

from tfexplicit_codemod.analysis.keras_models import is_made_by_keras
from tfexplicit_codemod.analysis.module import Module
from tfexplicit_codemod.analysis.names import qualified

COMPILE = "compile"


def may_compile(module: Module, cls: ast.ClassDef) -> bool:
    """False where every `x.compile` of the file is surely of something else."""
    family = module.classes.related(cls)
    methods = [each for one in family for each in one.body if isinstance(each, ast.FunctionDef)]
    if any(method.name == COMPILE for method in methods):
        return True
    holders = [each.value for each in module.source.nodes(ast.Attribute) if each.attr == COMPILE]
    return not all(_is_of_another(module, holder, family, frozenset()) for holder in holders)


def _is_of_another(
    module: Module, node: ast.expr, family: list[ast.ClassDef], seen: frozenset[ast.AST]
) -> bool:
    """True for `re`, and for an object that is surely of none of the classes."""
    if qualified(module.source, node) == "re":
        return True
    if node in seen:
        return False
    if isinstance(node, ast.Name):
        values = [binding.whole for binding in module.versions.bindings(node)]
    elif isinstance(node, ast.Call) and not is_made_by_keras(module.source, node):
        found = module.class_called(node)
        if found is not None:
            return found[0] is module and found[1] not in family
        values = _returned(module, node)
    else:
        return isinstance(node, ast.Call)
    others = [v is not None and _is_of_another(module, v, family, seen | {node}) for v in values]
    return bool(others) and all(others)


def _returned(module: Module, call: ast.Call) -> list[ast.expr | None]:
    """What the function of the file that the call runs may return; nothing for another."""
    bindings = module.versions.bindings(call.func) if isinstance(call.func, ast.Name) else []
    function = bindings[0].node if len(bindings) == 1 else None
    if not isinstance(function, ast.FunctionDef) or function.decorator_list:
        return []
    return [
        node.value
        for node in ast.walk(function)
        if isinstance(node, ast.Return)
        and module.source.enclosing(node, ast.FunctionDef) is function
    ]
