"""Keras layers that a `tf.Module` holds: its `trainable_variables` may not list them.

TensorFlow lists the `tf.Variable`s below a module, and those of Keras 3 are none. `setup` and
`trainables` take them in, so that a program which never trained them would begin to.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tfexplicit_codemod.analysis.calls import arguments_for
from tfexplicit_codemod.analysis.keras_models import (
    TRAINABLE,
    derives_from_keras,
    is_made_by_keras,
)
from tfexplicit_codemod.analysis.module import Module
from tfexplicit_codemod.rules import tx206_variable_list

# A class with one of these says itself what it trains.
LISTS = (*TRAINABLE, "variables")

Seen = frozenset[ast.AST]


class UnlistedLayers:
    """Raises `Leave` for the variables of a module in sight that holds Keras layers."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.source = module.source
        self.classes = module.classes

    def require_none(self, variables: ast.Attribute) -> None:
        for module, cls in self._classes_of(variables.value, frozenset()):
            if UnlistedLayers(module)._hides_layers(cls, frozenset()):
                raise tx206_variable_list.leave(
                    self.source.one_line(variables),
                    f"may not list the Keras layers that `{cls.name}` holds",
                )

    def _classes_of(self, node: ast.expr, seen: Seen) -> Iterator[tuple[Module, ast.ClassDef]]:
        """The classes, in files of the project, of what the expression may hold."""
        if node in seen:
            return
        seen |= {node}
        if isinstance(node, ast.Call):
            found = self.module.class_called(node)
            if found is not None:
                yield found
        elif isinstance(node, ast.Name):
            own = self.classes.self_of(node)
            if own:
                yield from ((self.module, cls) for cls in self.classes.related(own[0]))
            for value in self._values_of(node):
                yield from self._classes_of(value, seen)
        elif isinstance(node, ast.Attribute):
            for module, cls in self._classes_of(node.value, seen):
                there = UnlistedLayers(module)
                for store in module.classes.assignments(cls, node.attr):
                    if store.value is not None and not store.path:
                        yield from there._classes_of(store.value, seen)

    def _values_of(self, name: ast.Name) -> list[ast.expr]:
        """What the name is bound to; for a parameter, what the callers in the file give."""
        values: list[ast.expr] = []
        for binding in self.module.versions.bindings(name):
            if isinstance(binding.node, ast.arg):
                values += arguments_for(self.source, binding.node) or []
            elif binding.value is not None and not binding.path:
                values.append(binding.value)
        return values

    def _hides_layers(self, cls: ast.ClassDef, seen: Seen) -> bool:
        paths = self.classes.imported_bases(cls)
        if cls in seen or derives_from_keras(paths) or "tensorflow.Module" not in paths:
            return False
        if any(_is_list(s) for base in self.classes.bases_here(cls) for s in base.body):
            return False
        return any(
            self._is_layer(value, seen | {cls})
            for base in self.classes.bases_here(cls)
            for value in self._held_by(base)
        )

    def _held_by(self, cls: ast.ClassDef) -> Iterator[ast.expr]:
        """All that the methods make, and what they are given and store."""
        for node in ast.walk(cls):
            if isinstance(node, ast.Call):
                yield node
        for stores in self.classes.stores.values():
            for store in stores:
                if store.cls is cls and isinstance(store.value, ast.Name):
                    yield from self._values_of(store.value)

    def _is_layer(self, value: ast.expr, seen: Seen) -> bool:
        if isinstance(value, ast.Call) and is_made_by_keras(self.source, value):
            return True
        return any(
            derives_from_keras(module.classes.imported_bases(cls))
            or UnlistedLayers(module)._hides_layers(cls, seen)
            for module, cls in self._classes_of(value, frozenset())
        )


def _is_list(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.FunctionDef) and statement.name in LISTS
