"""Which files of a project a file imports, directly or through others."""

from __future__ import annotations

import ast
import warnings
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path

from tfexplicit_codemod.notebook.script import as_script


class ProjectImports:
    """Modules are matched by the end of their path, since a project's import roots are unknown:
    `import data` may mean every `data.py`. So what is found may be too much, not too little."""

    def __init__(self, files: Iterable[Path]) -> None:
        self.files = list(files)
        self._imported: dict[Path, set[Path]] = {}

    def reached_from(self, path: Path) -> set[Path]:
        """The file itself and all that it imports."""
        reached, waiting = {path}, [path]
        while waiting:
            new = self.imported_by(waiting.pop()) - reached
            reached |= new
            waiting.extend(new)
        return reached

    def imported_by(self, path: Path) -> set[Path]:
        """What a file imports itself."""
        if path not in self._imported:
            self._imported[path] = {
                file for name in _imported_names(path) for file in self._files_of(name)
            }
        return self._imported[path]

    def file_of(self, path: Path, module: str) -> Path | None:
        """The one file that a module name, perhaps with leading dots, means in a file.

        None where it may be several, or none of the project.
        """
        names = module.lstrip(".")
        wanted = tuple(names.split(".")) if names else ()
        level = len(module) - len(names)
        here = path.absolute().with_suffix("").parts
        if level:
            wanted = (*here[:-level], *wanted)
        found = [file for file in self._by_last_name[wanted[-1]] if _ends_with(file, wanted)]
        if level or len(found) <= 1:
            return found[0] if len(found) == 1 else None
        # The import root is a folder above the file: the nearest one counts.
        roots = {_module_parts(file)[: -len(wanted)]: file for file in found}
        above = [root for root in roots if here[: len(root)] == root]
        return roots[max(above, key=len)] if above else None

    def _files_of(self, name: tuple[str, ...]) -> Iterator[Path]:
        """A module, and the packages around it, which Python imports first."""
        for end in range(1, len(name) + 1):
            module = name[:end]
            for path in self._by_last_name[module[-1]]:
                if _ends_with(path, module):
                    yield path

    @cached_property
    def _by_last_name(self) -> dict[str, list[Path]]:
        index: dict[str, list[Path]] = defaultdict(list)
        for path in self.files:
            if path.suffix == ".py":
                index[_module_parts(path)[-1]].append(path)
        return index


def _module_parts(path: Path) -> tuple[str, ...]:
    parts = path.absolute().with_suffix("").parts
    return parts[:-1] if parts[-1] == "__init__" else parts


def _ends_with(path: Path, module: tuple[str, ...]) -> bool:
    return _module_parts(path)[-len(module) :] == module


def _imported_names(path: Path) -> Iterator[tuple[str, ...]]:
    """`from a import b` may import the module `a.b`, so it counts as that."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            source = path.read_bytes()
            tree = ast.parse(as_script(source) if path.suffix == ".ipynb" else source)
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        # The file's own outcome tells what is wrong with it.
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield tuple(alias.name.split("."))
        elif isinstance(node, ast.ImportFrom):
            module = tuple((node.module or "").split(".")) if node.module else ()
            for alias in node.names:
                yield (*module, alias.name)
