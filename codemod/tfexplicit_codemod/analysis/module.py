"""One module of the project: its source, its classes, and what its expressions evaluate to."""

from __future__ import annotations

from collections.abc import Callable

from tfexplicit_codemod.analysis.classes import Classes
from tfexplicit_codemod.analysis.names import imported_paths
from tfexplicit_codemod.analysis.source import Source
from tfexplicit_codemod.analysis.values import Values
from tfexplicit_codemod.analysis.versions import VersionTable
from tfexplicit_codemod.surroundings import Definition


class Module:
    """`lookup` finds the class or function of another module behind an import path."""

    def __init__(
        self, source: Source, lookup: Callable[[str], tuple[Module, Definition] | None]
    ) -> None:
        self.source = source
        self.lookup = lookup
        self.versions = VersionTable(source)
        self.classes = Classes(source, lookup)
        self.values = Values(source, self.classes, self.versions, lookup)

    def imported(self, name: str) -> str | None:
        """The import path of a module-level name."""
        paths = imported_paths(self.source.root, name)
        return paths[0] if paths else None
