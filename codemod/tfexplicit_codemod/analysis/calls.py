"""Who calls a function of this file, and with what: the values that a parameter can take."""

from __future__ import annotations

import ast

from tfexplicit_codemod.analysis.names import qualified
from tfexplicit_codemod.analysis.source import Source
from tfexplicit_codemod.analysis.versions import VersionTable

NamedFunction = ast.FunctionDef | ast.AsyncFunctionDef


def arguments_for(
    source: Source, parameter: ast.arg, versions: VersionTable | None = None
) -> list[ast.expr] | None:
    """What every caller in the file passes for a parameter.

    None where a caller may be out of sight: the function is passed on, exported, wrapped by an
    unknown decorator, or called with `*args`; or where nobody calls it here.
    """
    function = source.function_of(parameter)
    if isinstance(function, ast.Lambda) or not decorators_keep_arguments(source, function):
        return None
    owner = source.parent_of[function]
    is_constructor = isinstance(owner, ast.ClassDef) and function.name == "__init__"
    if isinstance(owner, ast.ClassDef) and not is_constructor:
        return None
    called = owner if isinstance(owner, ast.ClassDef) else function
    assert isinstance(called, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
    calls = calls_of(source, called, versions)
    if not calls:
        return None
    values = [argument(call, function, parameter, skip=int(is_constructor)) for call in calls]
    return None if None in values else [value for value in values if value is not None]


def arguments_of_compile(source: Source, parameter: ast.arg) -> list[ast.expr]:
    """What the file passes by name for a parameter of a Keras model's own `compile`."""
    return [
        keyword.value
        for call in source.nodes(ast.Call)
        if isinstance(call.func, ast.Attribute) and call.func.attr == "compile"
        for keyword in call.keywords
        if keyword.arg == parameter.arg
    ]


def decorators_keep_arguments(source: Source, function: NamedFunction) -> bool:
    for decorator in function.decorator_list:
        callee = decorator.func if isinstance(decorator, ast.Call) else decorator
        if not (qualified(source, callee) or "").startswith("tensorflow."):
            return False
    return True


def calls_of(
    source: Source, called: NamedFunction | ast.ClassDef, versions: VersionTable | None = None
) -> list[ast.Call] | None:
    """Every call of the function, or None where it is also used in another way.

    With `versions`, of one of several functions that have the name one after the other.
    """
    home = source.scope(called)
    own = versions.number_of_definition(home, called) if versions else 0
    if len(home.bindings[called.name]) != 1 and not own:
        return None
    calls: list[ast.Call] = []
    for name in source.nodes(ast.Name):
        if name.id != called.name or source.scope(name).lookup(name.id) is not home:
            continue
        number = versions.number(name) if versions and own else own
        if number not in (0, own):
            continue
        found = _calls_at(source, name) if number == own else None
        if found is None:
            return None
        calls += found
    return calls


def _calls_at(source: Source, name: ast.Name) -> list[ast.Call] | None:
    """The call of a function that is named, or all those of what `tf.function` makes of it."""
    parent = source.parent_of[name]
    if not isinstance(parent, ast.Call):
        return None
    if parent.func is name:
        return [parent]
    is_traced = qualified(source, parent.func) == "tensorflow.function" and parent.args == [name]
    return _calls_of_traced(source, source.parent_of[parent]) if is_traced else None


def _calls_of_traced(source: Source, made: ast.AST) -> list[ast.Call] | None:
    """All calls of `fast`, after `fast = tf.function(step)`."""
    traced = made.targets[0] if isinstance(made, ast.Assign) and len(made.targets) == 1 else None
    if not isinstance(traced, ast.Name):
        return None
    home = source.scope(traced).lookup(traced.id)
    if home is None or len(home.bindings[traced.id]) != 1:
        return None
    calls: list[ast.Call] = []
    for use in source.nodes(ast.Name):
        if use is traced or use.id != traced.id or source.scope(use).lookup(use.id) is not home:
            continue
        call = source.parent_of[use]
        if not isinstance(call, ast.Call) or call.func is not use:
            return None
        calls.append(call)
    return calls


def argument(
    call: ast.Call, function: NamedFunction, parameter: ast.arg, skip: int = 0
) -> ast.expr | None:
    """What a call passes for a parameter; None where that cannot be told."""
    if any(isinstance(argument, ast.Starred) for argument in call.args):
        return None
    for keyword in call.keywords:
        if keyword.arg is None:
            return None
        if keyword.arg == parameter.arg:
            return keyword.value
    positional = [*function.args.posonlyargs, *function.args.args][skip:]
    if parameter in positional:
        index = positional.index(parameter)
        if index < len(call.args):
            return call.args[index]
    return None
