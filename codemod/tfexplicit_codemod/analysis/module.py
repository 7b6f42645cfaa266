"""One module of the project: its source, its classes, and what its expressions evaluate to."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path

from tfexplicit_codemod.analysis.checkpoints import Checkpoints
from tfexplicit_codemod.analysis.classes import Classes
from tfexplicit_codemod.analysis.names import imported_paths, qualified
from tfexplicit_codemod.analysis.source import Source
from tfexplicit_codemod.analysis.values import Values
from tfexplicit_codemod.analysis.versions import VersionTable
from tfexplicit_codemod.surroundings import Definition


class Module:
    """`lookup` finds the class or function of another module behind an import path.

    `path` is the module's file, where it is known.
    """

    def __init__(
        self,
        source: Source,
        lookup: Callable[[str], tuple[Module, Definition] | None],
        path: Path | None = None,
    ) -> None:
        self.source = source
        self.path = path
        self.lookup = lookup
        self.versions = VersionTable(source)
        self.classes = Classes(source, lookup)
        self.checkpoints = Checkpoints(source, self.classes, self.versions)
        self.values = Values(source, self.classes, self.versions, self.checkpoints, lookup)

    def imported(self, name: str) -> str | None:
        """The import path of a module-level name."""
        paths = imported_paths(self.source.root, name)
        return paths[0] if paths else None

    def class_called(self, call: ast.Call) -> tuple[Module, ast.ClassDef] | None:
        """The class of the project, with its module, that a call makes an object of."""
        return self.class_named(call.func)

    def class_named(self, node: ast.expr) -> tuple[Module, ast.ClassDef] | None:
        """The class of the project, with its module, that a name or an import stands for."""
        if isinstance(node, ast.Name):
            scope = self.source.scope(node).lookup(node.id)
            here = self.classes.called(scope, node.id) if scope else None
            if here is not None:
                return self, here
        path = qualified(self.source, node)
        found = self.lookup(path) if path else None
        if found is None or not isinstance(found[1], ast.ClassDef):
            return None
        return found[0], found[1]

    def class_behind(self, name: ast.expr) -> tuple[Module, ast.ClassDef] | None:
        """The class of the one object that a name holds."""
        bindings = self.versions.bindings(name) if isinstance(name, ast.Name) else []
        value = bindings[0].value if len(bindings) == 1 and not bindings[0].path else None
        return self.class_called(value) if isinstance(value, ast.Call) else None
