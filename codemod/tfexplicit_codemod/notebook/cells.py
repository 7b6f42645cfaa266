"""The code cells of a notebook as one program from top to bottom, and edits of it cell by cell.

No text marks where a cell begins; the lines are counted. A cell that Python cannot read is in the
program as one line that may bind every name it mentions, so nothing is proven across it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from tfexplicit_codemod.edits import Edits, Span
from tfexplicit_codemod.notebook.file import Cell
from tfexplicit_codemod.notebook.imports import names_imported_in
from tfexplicit_codemod.notebook.magics import without_magics
from tfexplicit_codemod.notebook.masks import Masks, why_no_python
from tfexplicit_codemod.outcome import Site
from tfexplicit_codemod.rules import tx230_unread_cell

_CELL_MAGIC = re.compile(r"(?:[ \t]*(?:\r\n|\r|\n))*%%(\w+)[^\r\n]*(?:\r\n|\r|\n|\Z)")
# The body of the first runs as code of the notebook, that of the second never does.
_RUN_THE_BODY = frozenset({"time", "capture", "prun"})
_NO_CODE = frozenset(
    {"bash", "sh", "script", "cmd", "system", "sx", "perl", "ruby", "R", "sql", "bigquery"}
    | {"html", "HTML", "javascript", "js", "svg", "SVG", "latex", "markdown"}
    | {"writefile", "file", "python", "python2", "python3", "pypy"}
)
_WRITE_THE_BODY = frozenset({"writefile", "file"})
# IPython puts values into these as a whole, into the others only in the line of the magic.
_SHELL = frozenset({"system", "sx"})
_NEW_LINE = re.compile("\r\n|\r|\n")
_UPDATE = re.compile(r"\.apply_gradients\((?!\s*grads=)|\w*[oO]pt\w*\.(?:minimize|get_updates)\(")


@dataclass(frozen=True)
class Part:
    """A cell that is read: `header` are the lines of its cell magics, `first` is the line of the
    program on which the rest begins."""

    cell: int
    header: str
    code: str
    first: int

    @property
    def last(self) -> int:
        return self.first + len(_NEW_LINE.findall(self.code))


class Cells:
    """The code cells of a notebook; `unread` are the updates in cells that are not followed."""

    def __init__(self, cells: list[Cell]) -> None:
        self.all_text = "\n".join(cell.text for cell in cells)
        self.masks = Masks(self.all_text, names_imported_in(self.all_text))
        self.parts: list[Part] = []
        self.unread: list[Site] = []
        self._unread_names: dict[str, str] = {}
        self._lines = 0
        self._pieces: list[str] = []
        for cell in cells:
            self._add(cell)
        self.program = "".join(self._pieces)

    def part_at(self, line: int) -> Part:
        """The cell that holds a line of the program."""
        return next(part for part in reversed(self.parts) if part.first <= line)

    def line_in_cell(self, line: int) -> int:
        part = self.part_at(line)
        return line - part.first + 1 + len(_NEW_LINE.findall(part.header))

    def hint(self, text: str) -> str:
        """What keeps a site from being proven, where that may be a cell that is not read."""
        for name in re.findall(r"\w+", text):
            if name in self._unread_names:
                return f" (`{name}` is also in {self._unread_names[name]})"
        return ""

    def edits_by_part(self, edits: Edits) -> list[tuple[Part, Edits]]:
        """The cells that change, each with its edits."""
        shares = [(part, _share(edits, part)) for part in self.parts]
        if edits.first_statement is not None:
            shares[0][1].first_statement = edits.first_statement
        return [(part, share) for part, share in shares if share or share.first_statement]

    def _add(self, cell: Cell) -> None:
        header, kind, body = _split(cell.text)
        if kind in _NO_CODE:
            line = cell.text.removesuffix(body)
            self._note_updates(cell, _why_no_code(kind, line.removeprefix(header).strip()))
            self._append(self.masks.inert(cell.text if kind in _SHELL else line.strip()))
            return
        if kind:
            self._add_unread(cell, f"under `%%{kind}`, and not followed")
            return
        code = without_magics(body, self.masks)
        problem = why_no_python(code, len(_NEW_LINE.findall(header)))
        if problem:
            self._add_unread(cell, f"no valid Python: {problem}")
            return
        if not body.strip():
            return
        self._note_updates_after_magics(cell, code)
        for text in self.masks.unread_in(code):
            self._note_names(text, f"cell {cell.index}, after a magic, and not followed")
        self.parts.append(Part(cell.index, header, code, self._lines + 1))
        self._append(code)

    def _add_unread(self, cell: Cell, reason: str) -> None:
        self._note_updates(cell, reason)
        self._note_names(cell.text, f"cell {cell.index}, which is {reason}")
        self._append(self.masks.unread(cell.text))

    def _note_names(self, text: str, where: str) -> None:
        for name in self.masks.names_changed_in(text):
            self._unread_names.setdefault(name, where)

    def _append(self, code: str) -> None:
        self._pieces.append(f"{code}\n")
        self._lines += len(_NEW_LINE.findall(code)) + 1

    def _note_updates(self, cell: Cell, reason: str) -> None:
        for number, line in enumerate(_NEW_LINE.split(cell.text), 1):
            if not line.lstrip().startswith("#"):
                self._note(cell, number, line, reason)

    def _note_updates_after_magics(self, cell: Cell, code: str) -> None:
        lines = _NEW_LINE.split(cell.text)
        read = _NEW_LINE.split(code)
        above = len(lines) - len(read)
        for number, (line, seen) in enumerate(zip(lines[above:], read, strict=True), above + 1):
            if self.masks.mark in seen and not _UPDATE.search(seen):
                self._note(cell, number, line, "after a magic, and not followed")

    def _note(self, cell: Cell, number: int, line: str, reason: str) -> None:
        for call in _UPDATE.finditer(line):
            site = tx230_unread_cell.site(cell.index, number, call.start() + 1, line, reason)
            self.unread.append(site)


def _split(text: str) -> tuple[str, str, str]:
    """The lines of cell magics that run the rest; a magic that does not, if any; the rest."""
    at = 0
    while magic := _CELL_MAGIC.match(text, at):
        if magic[1] not in _RUN_THE_BODY:
            return text[:at], magic[1], text[magic.end() :]
        at = magic.end()
    return text[:at], "", text[at:]


def _why_no_code(kind: str, magic: str) -> str:
    if kind in _WRITE_THE_BODY:
        return f"in a file that the cell writes (`{magic}`): migrate that, and paste it back"
    return f"under `%%{kind}`, and no code of the notebook"


def _share(edits: Edits, part: Part) -> Edits:
    """Those of the edits that fall into a cell, in lines of the cell."""
    shift = part.first - 1

    def is_here(line: int) -> bool:
        return part.first <= line <= part.last

    def of_cell(added: dict[int, list[str]]) -> dict[int, list[str]]:
        return {line - shift: texts for line, texts in added.items() if is_here(line)}

    def within_cell(spans: dict[Span, str]) -> dict[Span, str]:
        return {
            ((start[0] - shift, start[1]), (end[0] - shift, end[1])): code
            for (start, end), code in spans.items()
            if is_here(start[0])
        }

    return Edits(
        replaced=within_cell(edits.replaced),
        beside=within_cell(edits.beside),
        inserted=of_cell(edits.inserted),
        inserted_before=of_cell(edits.inserted_before),
        comments=of_cell(edits.comments),
        settled={line - shift for line in edits.settled if is_here(line)},
    )
