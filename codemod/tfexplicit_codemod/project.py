"""The files of one run, as far as the analysis of one of them needs the others.

Nothing is read before a file with an update site asks, and then only what it imports.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache, cached_property, partial
from pathlib import Path

from tfexplicit_codemod.analysis.module import Module
from tfexplicit_codemod.analysis.source import Source
from tfexplicit_codemod.decoding import decoded
from tfexplicit_codemod.freezing import may_freeze
from tfexplicit_codemod.notebook.script import as_script
from tfexplicit_codemod.project_imports import ProjectImports
from tfexplicit_codemod.reach import Reach
from tfexplicit_codemod.rounding import may_round_otherwise, sets_precision_for_all
from tfexplicit_codemod.sparse import may_have_sparse_gradients
from tfexplicit_codemod.surroundings import Definition, Surroundings

LONGEST_CHAIN = 8


class Project:
    """All files of a run, and those that may use them."""

    def __init__(self, files: Iterable[Path]) -> None:
        self._bytes = cache(_bytes)
        self._text = cache(self._python_of)
        self.imports = ProjectImports(files, self._text)
        self._sparse = Reach(self.imports, lambda file: may_have_sparse_gradients(self._text(file)))
        self._freezing = Reach(self.imports, lambda file: may_freeze(self._text(file)))
        self._rounding = Reach(self.imports, lambda file: may_round_otherwise(self._text(file)))
        self._importing = cache(lambda file: Reach(self.imports, file.__eq__))
        self._reading = cache(self._files_reading)
        self._module = cache(self._parsed)

    def around(self, path: Path) -> Surroundings:
        """What is known of the files that this one imports."""
        return Surroundings(
            sparse=partial(self._sparse.has, path),
            freezes=partial(self._freezing.has, path),
            rounds=lambda: self._rounding.has(path) or self._may_run_with_another_precision(path),
            lookup=partial(self.lookup, path),
            is_own=self.imports.is_own,
            is_used_elsewhere=partial(self.is_used_elsewhere, path),
            is_read_elsewhere=partial(self.is_read_elsewhere, path),
            texts_naming=partial(self.texts_naming, path),
            path=path,
        )

    def _may_run_with_another_precision(self, path: Path) -> bool:
        """True where a program, this file or one that imports it, comes to a file that sets it."""
        importing = self._importing(path)
        return any(file == path or importing.has(file) for file in self._with_another_precision)

    @cached_property
    def _with_another_precision(self) -> list[Path]:
        setting = Reach(self.imports, lambda file: sets_precision_for_all(self._bytes(file)))
        return [file for file in self.imports.files if setting.has(file)]

    def is_used_elsewhere(self, path: Path, name: str) -> bool:
        """True where another file imports this one and has the name in its text."""
        return any(self.users(path, name))

    def is_read_elsewhere(self, path: Path, name: str) -> bool:
        """True where another file imports this one, and imports the name or reads it of an object.

        `optimizer` is a name that many files have: of their own, it is none of this one's.
        """
        importing = self._importing(path)
        return any(file != path and importing.has(file) for file in self._reading(name))

    def _files_reading(self, name: str) -> list[Path]:
        word = re.escape(name)
        reads = re.compile(
            rf"\.{word}\b|[\"']{word}[\"']|import\s*\*"
            rf"|import\b[^\n(]*\b{word}\b|import\s*\([^)]*\b{word}\b".encode()
        )
        files = (file for file in self.imports.files if self._may_name(file, name))
        return [file for file in files if reads.search(self._text(file))]

    def texts_naming(self, path: Path, name: str) -> Iterator[bytes]:
        return (self._text(file) for file in self.users(path, name))

    def users(self, path: Path, name: str) -> Iterator[Path]:
        """The other files and notebooks that may call a function of this one."""
        importing = self._importing(path)
        return (
            file
            for file in self.imports.files
            if file != path and self._may_name(file, name) and importing.has(file)
        )

    def _may_name(self, file: Path, name: str) -> bool:
        # In the JSON of a notebook, only what is not ASCII may be spelt otherwise.
        return not name.isascii() or name.encode() in self._bytes(file)

    def _python_of(self, file: Path) -> bytes:
        """The text of a file; of a notebook, what its cells run."""
        source = self._bytes(file)
        if file.suffix != ".ipynb":
            return source
        try:
            return as_script(source).encode()
        except (ValueError, RecursionError):
            # The file's own outcome tells what is wrong with it.
            return b""

    def lookup(self, path: Path, name: str) -> tuple[Module, Definition] | None:
        """The class or function of the project that an import in a file stands for."""
        return self._found(path, name, LONGEST_CHAIN)

    def _found(self, path: Path, name: str, hops: int) -> tuple[Module, Definition] | None:
        last = name.rpartition(".")[2]
        where = name[: -len(last) - 1] or "."
        where = where if where.strip(".") else name[: -len(last)]
        file = self.imports.file_of(path, where) if hops else None
        module = self._module(file) if file else None
        if file is None or module is None:
            return None
        bindings = module.source.root.bindings.get(last, [])
        node = bindings[0].node if len(bindings) == 1 else None
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            return module, node
        if isinstance(node, ast.ImportFrom):
            passed_on = module.imported(last)
            return self._found(file, passed_on, hops - 1) if passed_on else None
        return None

    def _parsed(self, file: Path) -> Module | None:
        try:
            source = Source(decoded(self._text(file)))
        except (SyntaxError, ValueError, LookupError, RecursionError, MemoryError):
            # The file's own outcome tells what is wrong with it.
            return None
        return Module(source, partial(self.lookup, file), file)


def _bytes(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError:
        return b""
