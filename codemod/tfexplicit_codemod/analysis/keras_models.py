"""Which expressions surely hold a Keras model or layer, or a `tf.Module`."""

from __future__ import annotations

import ast
import re

from tfexplicit_codemod.analysis import frameworks
from tfexplicit_codemod.analysis.classes import Classes
from tfexplicit_codemod.analysis.module import Module
from tfexplicit_codemod.analysis.names import qualified
from tfexplicit_codemod.analysis.source import Source

# The lists of what a model trains.
TRAINABLE = ("trainable_variables", "trainable_weights")

_MADE_BY_KERAS = re.compile(
    r"keras\.(models\.)?(Model|Sequential|Functional)$|keras\.(layers|applications)\.[\w.]*[A-Z]\w*$"
)


class KerasModels:
    """Answers for the expressions of one module; classes of other files are followed."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.source = module.source
        self.classes = module.classes
        self.versions = module.versions

    def is_model(self, node: ast.expr) -> bool:
        """True where every value that the expression may have is a model or a layer.

        A string is passed over: a name may hold the model's name first.
        """
        return self._is_model(node, frozenset())

    def _is_model(self, node: ast.expr, seen: frozenset[ast.AST]) -> bool:
        if isinstance(node, ast.Call):
            return self._class_of(node) is not None or is_made_by_keras(self.source, node)
        if node in seen:
            return False
        if isinstance(node, ast.Name):
            own = self.classes.self_of(node)
            if own:
                return _trains(self.classes, own[0])
            values = [binding.whole for binding in self.versions.bindings(node)]
            return self._all_are_models(values, seen | {node})
        if isinstance(node, ast.Attribute):
            return self._stored(node, seen | {node})
        return False

    def _all_are_models(self, values: list[ast.expr | None], seen: frozenset[ast.AST]) -> bool:
        models = [value for value in values if not isinstance(value, ast.Constant)]
        return bool(models) and all(v is not None and self._is_model(v, seen) for v in models)

    def _stored(self, attribute: ast.Attribute, seen: frozenset[ast.AST]) -> bool:
        """True where all that `x.<name>` is given are models, for an `x` of a class in sight."""
        own = self.classes.self_of(attribute.value)
        if own:
            module, cls = self.module, own[0]
        else:
            found = self.module.class_behind(attribute.value)
            if found is None:
                return False
            module, cls = found
        stores = module.classes.assignments(cls, attribute.attr)
        models = self if module is self.module else KerasModels(module)
        return models._all_are_models([store.whole for store in stores], seen)

    def _class_of(self, call: ast.Call) -> ast.ClassDef | None:
        """The class of the project, derived from one of Keras, that the call makes an object of."""
        found = self.module.class_called(call)
        if found is None:
            return None
        module, cls = found
        return cls if _trains(module.classes, cls) else None


def _trains(classes: Classes, cls: ast.ClassDef) -> bool:
    paths = classes.imported_bases(cls)
    return "tensorflow.Module" in paths or derives_from_keras(paths)


def derives_from_keras(paths: list[str]) -> bool:
    """True where one of the import paths of base classes is a model or layer of Keras."""
    return any(_MADE_BY_KERAS.match(frameworks.normalised(path)) for path in paths)


def is_made_by_keras(source: Source, call: ast.Call) -> bool:
    """True for a call of a model or layer of Keras, and for an application."""
    path = qualified(source, call.func)
    return path is not None and _MADE_BY_KERAS.match(frameworks.normalised(path)) is not None
