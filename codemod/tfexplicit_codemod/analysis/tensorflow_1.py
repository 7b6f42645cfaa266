"""Signs of TensorFlow 1 around a call whose receiver is not proven to be a Keras optimizer."""

from __future__ import annotations

import ast

from tfexplicit_codemod.analysis import frameworks
from tfexplicit_codemod.analysis.classes import Classes
from tfexplicit_codemod.analysis.names import qualified
from tfexplicit_codemod.analysis.source import Source

_GRAPH_LISTS = ("tensorflow.trainable_variables", "tensorflow.compat.v1.trainable_variables")


def is_of_tensorflow_1(source: Source, classes: Classes, receiver: ast.expr) -> bool:
    return _is_in_optimizer_class(source, classes, receiver) or _computes_gradients(
        source, receiver
    )


def is_graph_list(source: Source, attribute: ast.Attribute) -> bool:
    """True for `tf.trainable_variables`, which TensorFlow 2 has no more."""
    return qualified(source, attribute) in _GRAPH_LISTS


def _is_in_optimizer_class(source: Source, classes: Classes, receiver: ast.expr) -> bool:
    """True inside a class derived from an optimizer of TensorFlow 1: what it wraps is one too."""
    cls = source.enclosing(receiver, ast.ClassDef)
    return cls is not None and any(
        map(frameworks.is_tensorflow_1_optimizer, classes.imported_bases(cls))
    )


def _computes_gradients(source: Source, receiver: ast.expr) -> bool:
    """True where `compute_gradients` is called on the same object, without Keras' own `tape=`."""
    return any(
        isinstance(call.func, ast.Attribute)
        and call.func.attr == "compute_gradients"
        and all(keyword.arg != "tape" for keyword in call.keywords)
        and ast.dump(call.func.value) == ast.dump(receiver)
        and _holder(source, call.func.value) is _holder(source, receiver)
        for call in source.nodes(ast.Call)
    )


def _holder(source: Source, node: ast.expr) -> object:
    """What two nodes of one spelling share where they are one object: a scope, or a class."""
    if isinstance(node, ast.Name):
        return source.scope(node).lookup(node.id)
    return source.enclosing(node, ast.ClassDef)
