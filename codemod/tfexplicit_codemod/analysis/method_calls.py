"""The calls of a private method, and what they pass, where all of them are on `self` in its file.

def fit(self, x):
    mask = tf.Variable(...)
    self._step(x, mask)
"""

from __future__ import annotations

import ast
import re

from tfexplicit_codemod.analysis.calls import argument, decorators_keep_arguments
from tfexplicit_codemod.analysis.classes import Classes
from tfexplicit_codemod.analysis.source import Source
from tfexplicit_codemod.surroundings import Surroundings


def arguments_for_method(
    source: Source, classes: Classes, around: Surroundings, parameter: ast.arg
) -> list[ast.expr] | None:
    """What every call passes for a parameter; None where a caller may be out of sight."""
    method = source.function_of(parameter)
    if not isinstance(method, ast.FunctionDef):
        return None
    calls = calls_of_method(source, classes, around, method)
    values = [argument(call, method, parameter, skip=1) for call in calls or ()]
    known = [value for value in values if value is not None]
    return known if known and len(known) == len(values) else None


def calls_of_method(
    source: Source, classes: Classes, around: Surroundings, method: ast.FunctionDef
) -> list[ast.Call] | None:
    """Every call of a private method; None where one may be out of sight."""
    cls = source.parent_of[method]
    if not isinstance(cls, ast.ClassDef):
        return None
    if not _is_private(method.name) or not decorators_keep_arguments(source, method):
        return None
    name = method.name
    defined = [each for each in source.nodes(ast.FunctionDef) if each.name == name]
    by_name = any(constant.value == name for constant in source.nodes(ast.Constant))
    if len(defined) > 1 or by_name or _is_named_in_other_files(around, cls, name):
        return None
    calls: list[ast.Call] = []
    for use in source.nodes(ast.Attribute):
        if use.attr != name:
            continue
        call, own = source.parent_of[use], classes.self_of(use.value)
        is_call = isinstance(call, ast.Call) and call.func is use
        if not is_call or own is None or own[0] not in classes.related(cls):
            return None
        assert isinstance(call, ast.Call)
        calls.append(call)
    return calls


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.endswith("__")


def _is_named_in_other_files(around: Surroundings, cls: ast.ClassDef, name: str) -> bool:
    """Also where other files may use the class, and none of them is in sight."""
    texts = list(around.texts_naming(cls.name))
    if around.is_used_elsewhere(cls.name) and not texts:
        return True
    word = re.compile(rf"\b{name}\b".encode())
    return any(word.search(text) for text in texts)
