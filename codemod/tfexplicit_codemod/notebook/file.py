"""A notebook file, of format 3 or 4: its code cells, and the same file with other sources."""

from __future__ import annotations

import codecs
import json
from dataclasses import dataclass

from tfexplicit_codemod.notebook.json_text import Value, whole
from tfexplicit_codemod.notebook.source_strings import SourceStrings


class NotANotebook(ValueError):
    """The file cannot be read as a notebook; the message says why."""


@dataclass(frozen=True)
class Cell:
    """A code cell; `index` counts all cells of the notebook from 0."""

    index: int
    source: SourceStrings

    @property
    def text(self) -> str:
        return self.source.text


class NotebookFile:
    """The JSON of a notebook. `UnicodeDecodeError` where it is not UTF-8."""

    def __init__(self, source: bytes) -> None:
        self.mark = codecs.BOM_UTF8 if source.startswith(codecs.BOM_UTF8) else b""
        self.json = source[len(self.mark) :].decode()
        try:
            self.root = whole(self.json)
        except json.JSONDecodeError as error:
            raise NotANotebook(f"{error.lineno}:{error.colno}: not JSON: {error.msg}") from error
        self.cells = [
            Cell(index, code)
            for index, cell in enumerate(self._all_cells())
            if (code := self._code(cell)) is not None
        ]

    @property
    def is_python(self) -> bool:
        """False where the notebook says that its kernel runs another language."""
        held_metadata = self.root.members.get("metadata")
        metadata = held_metadata.decoded if held_metadata else {}
        for part, key in (("language_info", "name"), ("kernelspec", "language")):
            held = metadata.get(part) if isinstance(metadata, dict) else None
            name = held.get(key) if isinstance(held, dict) else None
            if isinstance(name, str):
                return "python" in name.lower()
        return True

    def with_sources(self, new: dict[int, str]) -> bytes:
        """The file with other texts in these cells, by index; all else keeps its bytes."""
        pieces, at = [], 0
        for cell in self.cells:
            value = cell.source.value
            if cell.index in new:
                pieces += [self.json[at : value.start], cell.source.changed_to(new[cell.index])]
                at = value.end
        return self.mark + "".join([*pieces, self.json[at:]]).encode()

    def _all_cells(self) -> list[Value]:
        members = self.root.members
        if "cells" in members:
            return members["cells"].elements
        if "worksheets" not in members:
            raise NotANotebook("not a notebook: it has no cells")
        sheets = [sheet.members for sheet in members["worksheets"].elements]
        return [cell for sheet in sheets if "cells" in sheet for cell in sheet["cells"].elements]

    def _code(self, cell: Value) -> SourceStrings | None:
        """The source of a code cell; format 3 calls it `input`."""
        members = cell.members
        kind = members.get("cell_type")
        source = members.get("source", members.get("input"))
        if kind is None or kind.decoded != "code" or source is None:
            return None
        held = source.decoded
        is_text = isinstance(held, str)
        is_list = isinstance(held, list) and all(isinstance(line, str) for line in held)
        return SourceStrings(source) if is_text or is_list else None
