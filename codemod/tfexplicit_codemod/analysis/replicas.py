"""Models that several replicas step: they must be built where the state is made.

A variable cannot be made by the replicas one by one, so `update` needs the slots before. A model of
a class of the project, or a lone layer, is built by its first call, which is in `strategy.run`.
A variable that parameter servers keep in shards is no single variable, and no leaf.
"""

from __future__ import annotations

import ast
import re

from tfexplicit_codemod.analysis import frameworks
from tfexplicit_codemod.analysis.module import Module
from tfexplicit_codemod.analysis.names import qualified
from tfexplicit_codemod.analysis.references import Reference, References
from tfexplicit_codemod.analysis.scopes import Scope
from tfexplicit_codemod.rules import tx203_unclear_definition

_LONE_LAYER = re.compile(r"keras\.layers\.[A-Z]\w*$")
_PARAMETER_SERVERS = frozenset({"ParameterServerStrategy", "ParameterServerStrategyV2"})
_FUNCTIONAL = ("inputs", "outputs")


def check_built_before(module: Module, references: References, models: list[Reference]) -> None:
    """Raise for a model that is not built when replicas step it the first time."""
    if _PARAMETER_SERVERS & module.source.identifiers:
        raise tx203_unclear_definition.leave("parameter servers may keep a variable in shards")
    if not _steps_in_replicas(module):
        return
    for model in models:
        value = _value_of(module, references, model)
        if isinstance(value, ast.Call) and _is_built_by_its_first_call(module, value):
            raise tx203_unclear_definition.leave(
                f"`{model.path[-1]}` may not be built when several replicas step"
            )


def _steps_in_replicas(module: Module) -> bool:
    names = module.source.identifiers
    return "experimental_run_v2" in names or {"scope", "run"} <= names


def _value_of(module: Module, references: References, model: Reference) -> ast.expr | None:
    """The one expression that the model is, where it is one."""
    if len(model.path) != 1:
        return None
    values: list[ast.expr | None]
    if isinstance(model.owner, Scope):
        values = [None if b.path else b.value for b in references.bindings(model)]
    else:
        stores = module.classes.assignments(model.owner, model.path[0])
        values = [None if store.path else store.value for store in stores]
    return values[0] if len(values) == 1 else None


def _is_built_by_its_first_call(module: Module, call: ast.Call) -> bool:
    if any(keyword.arg in _FUNCTIONAL for keyword in call.keywords):
        return False
    path = qualified(module.source, call.func)
    if path is not None and _LONE_LAYER.match(frameworks.normalised(path)):
        return True
    found = module.class_called(call)
    return found is not None and found[0].classes.is_keras_model(found[1])
