"""Which files of a project a file imports, directly or through others."""

from __future__ import annotations

import ast
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import cache, cached_property
from pathlib import Path

from tfexplicit_codemod.decoding import decoded
from tfexplicit_codemod.import_lines import names_seemingly_imported

Parts = tuple[str, ...]


class ProjectImports:
    """Modules are matched by the end of their path, since a project's import roots are unknown:
    `import data` may mean every `data.py`. So what is found may be too much, not too little.

    `source_of` gives the Python text of a file or notebook.
    """

    def __init__(self, files: Iterable[Path], source_of: Callable[[Path], bytes]) -> None:
        self.files = list(files)
        self.source_of = source_of
        self._working_folder = Path.cwd().parts
        self._imported: dict[Path, frozenset[Path]] = {}
        self._seemingly = cache(self._by_a_look_at)
        self._files_ending_with = cache(self._modules_named)

    def imported_by(self, path: Path) -> frozenset[Path]:
        """What a file imports itself."""
        if path not in self._imported:
            self._imported[path] = self._files_named(_imported_names(self.source_of(path)))
        return self._imported[path]

    def seemingly_imported_by(self, path: Path) -> frozenset[Path]:
        """Those, and perhaps more, without parsing the file."""
        if path in self._imported:
            return self._imported[path]
        return self._seemingly(path)

    def _by_a_look_at(self, path: Path) -> frozenset[Path]:
        try:
            text = decoded(self.source_of(path))
        except (SyntaxError, ValueError):
            # The file's own outcome tells what is wrong with it.
            return frozenset()
        return self._files_named(names_seemingly_imported(text))

    def _files_named(self, names: Iterable[Parts]) -> frozenset[Path]:
        """The files of the modules, and of the packages around them, which Python imports first."""
        modules = {name[:end] for name in names for end in range(1, len(name) + 1)}
        return frozenset(file for module in modules for file in self._files_ending_with(module))

    def file_of(self, path: Path, module: str) -> Path | None:
        """The one file that a module name, perhaps with leading dots, means in a file.

        None where it may be several, or none of the project.
        """
        names = module.lstrip(".")
        wanted = tuple(names.split(".")) if names else ()
        level = len(module) - len(names)
        here = self._parts(path)
        if level:
            wanted = (*here[:-level], *wanted)
        found = self._files_ending_with(wanted)
        if level or len(found) <= 1:
            return found[0] if len(found) == 1 else None
        # The import root is a folder above the file: the nearest one counts.
        roots = {self._module_parts(file)[: -len(wanted)]: file for file in found}
        above = [root for root in roots if here[: len(root)] == root]
        return roots[max(above, key=len)] if above else None

    def is_own(self, module: str) -> bool:
        """True for a module of one of the files, or of a package around one.

        A file within another package is no top-level module: `keras/backend/tensorflow` is not
        what `import tensorflow` means.
        """
        names = tuple(module.split("."))
        modules = [names[:end] for end in range(1, len(names) + 1)]
        roots = {
            self._module_parts(file)[: -len(wanted)]
            for wanted in modules
            for file in self._files_ending_with(wanted)
        }
        return any(not self._is_package(root) for root in roots)

    def _is_package(self, folder: Parts) -> bool:
        return any(file.stem == "__init__" for file in self._files_ending_with(folder))

    def _modules_named(self, module: Parts) -> list[Path]:
        named_so = self._by_last_name.get(module[-1], [])
        return [file for file, parts in named_so if parts[-len(module) :] == module]

    @cached_property
    def _by_last_name(self) -> dict[str, list[tuple[Path, Parts]]]:
        index = defaultdict(list)
        for path in self.files:
            if path.suffix == ".py":
                parts = self._module_parts(path)
                index[parts[-1]].append((path, parts))
        return index

    def _module_parts(self, path: Path) -> Parts:
        parts = self._parts(path)
        return parts[:-1] if parts[-1] == "__init__" else parts

    def _parts(self, path: Path) -> Parts:
        """Those of the absolute path, without the suffix."""
        above = () if path.is_absolute() else self._working_folder
        return (*above, *path.parts[:-1], path.stem)


def _imported_names(source: bytes) -> Iterator[Parts]:
    """`from a import b` may import the module `a.b`, so it counts as that."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
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
