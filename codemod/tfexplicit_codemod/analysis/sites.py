"""Finds the update sites of a file: calls that apply gradients through a Keras optimizer."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from tfexplicit_codemod.analysis import frameworks
from tfexplicit_codemod.analysis.classes import Classes, methods_named
from tfexplicit_codemod.analysis.names import imported_roots, qualified
from tfexplicit_codemod.analysis.source import Source
from tfexplicit_codemod.analysis.tensorflow_1 import is_graph_list, is_of_tensorflow_1
from tfexplicit_codemod.analysis.values import CUSTOM, Value, Values

METHODS = ("apply_gradients", "minimize", "apply", "get_updates")
PAIRS = "grads_and_vars"
_TENSORFLOW_2 = frozenset({"GradientTape", "trainable_variables", "trainable_weights", "tape"})
_TENSORFLOW_1 = frozenset({"Session", "session", "cached_session"})
_OF_GET_UPDATES = frozenset({"loss", "params", "constraints"})
# How a list of variables is written: what else has these methods takes no such argument.
_VARIABLES = re.compile(r"(.*\.)?trainable_(variables|weights)$|variables$|\[\s*[^\W\d][^()]*\]$")


@dataclass(frozen=True)
class Update:
    """A call recognised as an update, and what its receiver is."""

    call: ast.Call
    receiver: ast.expr
    method: str
    value: Value


def updates(
    source: Source, classes: Classes, values: Values, observed: frozenset[tuple[int, int]]
) -> Iterator[Update]:
    """Every update site, in the order of the text."""
    if _runs_on_another_backend(source):
        return
    could_be_tensorflow_2 = _uses_tensorflow_2(source)
    calls = sorted(source.nodes(ast.Call), key=source.start)
    for call in calls:
        function = call.func
        if not isinstance(function, ast.Attribute) or function.attr not in METHODS:
            continue
        if qualified(source, function) == f"tfexplicit.{function.attr}":
            continue
        value = values.of(function.value)
        if value.kind == "unknown" and source.start(call) in observed:
            # Of some Keras class: what is known of Keras' own may not hold for it.
            value = CUSTOM
        if value.kind == "foreign" or _is_super(function.value) or _is_own(classes, function):
            continue
        proven = value.kind in ("optimizer", "compiled")
        if proven or (
            could_be_tensorflow_2
            and _looks_like_an_update(source, call, function.attr)
            and not is_of_tensorflow_1(source, classes, function.value)
        ):
            yield Update(call, function.value, function.attr, value)


def _runs_on_another_backend(source: Source) -> bool:
    """True for a file that sets KERAS_BACKEND to torch or jax, or imports one and no TensorFlow."""
    roots = imported_roots(source)
    if roots & {"torch", "jax"} and not roots & {"tensorflow", "tf_keras"}:
        return True
    texts = [n.value for n in source.nodes(ast.Constant) if isinstance(n.value, str)]
    return "KERAS_BACKEND" in texts and bool({"torch", "jax", "numpy"} & set(texts))


def _uses_tensorflow_2(source: Source) -> bool:
    roots = imported_roots(source)
    if "flax" in roots:
        return False
    if not roots & {"tensorflow", "keras", "tf_keras"}:
        # A package may import TensorFlow in one place for all its modules.
        return "GradientTape" in source.identifiers
    signs = _TENSORFLOW_2 & source.identifiers
    if not signs:
        return not _TENSORFLOW_1 & source.identifiers and _names_a_keras_optimizer(source)
    if signs == {"trainable_variables"}:
        read = [a for a in source.nodes(ast.Attribute) if a.attr == "trainable_variables"]
        return not read or not all(is_graph_list(source, attribute) for attribute in read)
    return True


def _names_a_keras_optimizer(source: Source) -> bool:
    imported = (f"{i.module}.{a.name}" for i in source.nodes(ast.ImportFrom) for a in i.names)
    read = (qualified(source, attribute) or "" for attribute in source.nodes(ast.Attribute))
    return any(map(frameworks.is_keras_optimizer_base, (*imported, *read)))


def _is_super(receiver: ast.expr) -> bool:
    return (
        isinstance(receiver, ast.Call)
        and isinstance(receiver.func, ast.Name)
        and receiver.func.id == "super"
    )


def _is_own(classes: Classes, method: ast.Attribute) -> bool:
    """True for `self.apply(...)` in a class that says itself what that does."""
    found = classes.self_of(method.value)
    return found is not None and any(methods_named(method.attr, classes.bases_here(found[0])))


def _looks_like_an_update(source: Source, call: ast.Call, method: str) -> bool:
    """The shapes that only a Keras update has, for receivers that we know nothing of."""
    keywords = {keyword.arg for keyword in call.keywords}
    if keywords & {"global_step", "grads"}:
        return False
    if method == "get_updates":
        return (
            len(call.args) + len(keywords) > 1
            and keywords <= _OF_GET_UPDATES
            and (bool(keywords) or "opt" in source.segment(call.func).lower())
        )
    if method == "apply_gradients":
        return len(call.args) == 1 or PAIRS in keywords
    if keywords & {"var_list", "tape"}:
        return method == "minimize"
    return len(call.args) == 2 and bool(_VARIABLES.match(source.segment(call.args[1])))


def is_in_optimizer_class(source: Source, classes: Classes, call: ast.Call) -> bool:
    """True inside a class derived from a Keras optimizer."""
    cls = source.enclosing(call, ast.ClassDef)
    return cls is not None and any(
        map(frameworks.is_keras_optimizer_base, classes.imported_bases(cls))
    )
