"""Which files lead to a goal by what they import, directly or through others."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

from tfexplicit_codemod.project_imports import ProjectImports


class Reach:
    """The files that are a goal or import one.

    The search goes by a look at the texts; only the files on a way that it finds are parsed. What
    was found for one file is remembered for the others.
    """

    def __init__(self, imports: ProjectImports, is_goal: Callable[[Path], bool]) -> None:
        self.imports = imports
        self.is_goal = is_goal
        self._leading: set[Path] = set()
        self._leading_nowhere: set[Path] = set()

    def has(self, path: Path) -> bool:
        while (way := self._way(path)) is not None:
            if all(later in self.imports.imported_by(file) for file, later in pairwise(way)):
                self._leading.update(way)
                return True
        return False

    def _way(self, path: Path) -> list[Path] | None:
        """The shortest way to a goal, each file of which seems to import the next."""
        before: dict[Path, Path | None] = {path: None}
        waiting = deque([path])
        while waiting:
            file = waiting.popleft()
            if file in self._leading or self.is_goal(file):
                way = [file]
                while (last := before[way[-1]]) is not None:
                    way.append(last)
                return way[::-1]
            for imported in self.imports.seemingly_imported_by(file):
                if imported not in before and imported not in self._leading_nowhere:
                    before[imported] = file
                    waiting.append(imported)
        self._leading_nowhere.update(before)
        return None
