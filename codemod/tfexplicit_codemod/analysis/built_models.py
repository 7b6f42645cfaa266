"""Models that surely have all their variables when their state is made."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

from tfexplicit_codemod.analysis.frameworks import normalised
from tfexplicit_codemod.analysis.names import qualified
from tfexplicit_codemod.analysis.references import Reference, References
from tfexplicit_codemod.analysis.source import Source
from tfexplicit_codemod.analysis.variables import Part

_FUNCTIONAL = re.compile(r"keras\.(models\.)?(Model|Functional)$")
_SEQUENTIAL = re.compile(r"keras\.(models\.)?Sequential$")
_APPLICATION = re.compile(r"keras\.applications\.(\w+\.)?[A-Z]\w*$")
_INPUT = re.compile(r"keras\.(layers\.)?(Input|InputLayer)$")
_SHAPES = ("input_shape", "batch_input_shape", "input_dim")


class BuiltModels:
    """Answers for the models of one file."""

    def __init__(self, source: Source, references: References) -> None:
        self.source = source
        self.references = references

    def hold_all(self, parts: Iterable[Part]) -> bool:
        """True where no leaf of these parts is made later: variables are there from the start."""
        models = [each for part in parts if part.is_model for each in part.references]
        return all(map(self._is_built, models))

    def _is_built(self, model: Reference) -> bool:
        if len(model.path) != 1:
            return False
        if isinstance(model.owner, ast.ClassDef):
            stores = self.references.classes.assignments(model.owner, model.path[0])
            values = [store.whole for store in stores]
        else:
            values = [binding.whole for binding in self.references.bindings(model)]
        return bool(values) and all(self._comes_built(value) for value in values)

    def _comes_built(self, value: ast.expr | None) -> bool:
        """True for a model that is made built, or by a function of the file that makes it so."""
        return self._is_made_built(value) or self._is_returned_built(value)

    def _is_returned_built(self, call: ast.expr | None) -> bool:
        callee = call.func if isinstance(call, ast.Call) else None
        bindings = self.references.versions.bindings(callee) if isinstance(callee, ast.Name) else []
        function = bindings[0].node if len(bindings) == 1 else None
        if not isinstance(function, ast.FunctionDef) or function.decorator_list:
            return False
        returned = [node.value for node in ast.walk(function) if isinstance(node, ast.Return)]
        return bool(returned) and all(map(self._names_built, returned))

    def _names_built(self, value: ast.expr | None) -> bool:
        if not isinstance(value, ast.Name):
            return self._is_made_built(value)
        values = [binding.whole for binding in self.references.versions.bindings(value)]
        return bool(values) and all(map(self._is_made_built, values))

    def _is_made_built(self, value: ast.expr | None) -> bool:
        if not isinstance(value, ast.Call):
            return False
        path = self._path(value)
        if _FUNCTIONAL.match(path):
            has_outputs = any(keyword.arg == "outputs" for keyword in value.keywords)
            return has_outputs or len(value.args) > 1
        if _SEQUENTIAL.match(path):
            return self._begins_with_input(value)
        return _APPLICATION.match(path) is not None

    def _begins_with_input(self, sequential: ast.Call) -> bool:
        given = [*sequential.args, *(k.value for k in sequential.keywords if k.arg == "layers")]
        layers = given[0].elts if given and isinstance(given[0], ast.List) else []
        if not layers or not isinstance(layers[0], ast.Call):
            return False
        has_shape = any(keyword.arg in _SHAPES for keyword in layers[0].keywords)
        return has_shape or _INPUT.match(self._path(layers[0])) is not None

    def _path(self, call: ast.Call) -> str:
        return normalised(qualified(self.source, call.func) or "")
