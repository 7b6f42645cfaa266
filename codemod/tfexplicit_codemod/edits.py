"""The edits that the analysis asks for; `rewrite` applies them. Columns are characters, from 0."""

from __future__ import annotations

from dataclasses import dataclass, field

TODO_MARK = "# TODO(tfexplicit "
# In new code for a call or an assignment: its last argument or its value, with the edits within.
KEPT = "{tfexplicit_kept}"
# Where an expression begins and ends: line and column.
Span = tuple[tuple[int, int], tuple[int, int]]


@dataclass(frozen=True)
class Replace:
    """New code for the expression, assignment or `return` that spans `start` to `end`."""

    start: tuple[int, int]
    end: tuple[int, int]
    code: str


@dataclass(frozen=True)
class InsertBeside:
    """An argument or parameter more, after the one whose value or name spans `start` to `end`."""

    start: tuple[int, int]
    end: tuple[int, int]
    code: str


@dataclass(frozen=True)
class InsertAfter:
    """A statement of its own after the statement that begins on `line`, in the same block."""

    line: int
    code: str


@dataclass(frozen=True)
class InsertBefore:
    """A statement of its own before the statement that begins on `line`, in the same block."""

    line: int
    code: str


@dataclass(frozen=True)
class CommentAbove:
    """A comment line above the statement that begins on `line`."""

    line: int
    text: str


@dataclass(frozen=True)
class DropName:
    """A name less in the import that begins on `line`; without its last name, the import goes."""

    line: int
    name: str


Edit = Replace | InsertBeside | InsertAfter | InsertBefore | CommentAbove | DropName


@dataclass
class Edits:
    """All edits of one file; asking twice for the same edit is asking once.

    `settled` holds the lines of statements whose TODO comment is no longer true.
    """

    replaced: dict[Span, str] = field(default_factory=dict)
    beside: dict[Span, str] = field(default_factory=dict)
    inserted: dict[int, list[str]] = field(default_factory=dict)
    inserted_before: dict[int, list[str]] = field(default_factory=dict)
    comments: dict[int, list[str]] = field(default_factory=dict)
    settled: set[int] = field(default_factory=set)
    dropped: dict[int, set[str]] = field(default_factory=dict)
    first_statement: str | None = None

    def add(self, edit: Edit) -> None:
        if isinstance(edit, DropName):
            self.dropped.setdefault(edit.line, set()).add(edit.name)
            return
        if isinstance(edit, Replace | InsertBeside):
            spans = self.replaced if isinstance(edit, Replace) else self.beside
            before = spans.setdefault((edit.start, edit.end), edit.code)
            assert before == edit.code, f"two rewrites at line {edit.start[0]}"
            return
        if isinstance(edit, CommentAbove):
            table, text = self.comments, edit.text
        else:
            is_after = isinstance(edit, InsertAfter)
            table, text = self.inserted if is_after else self.inserted_before, edit.code
        texts = table.setdefault(edit.line, [])
        if text not in texts:
            texts.append(text)

    def mention(self, name: str) -> bool:
        """True where new code begins an attribute with the name: `tx.update`."""
        tables = (self.inserted, self.inserted_before)
        added = [text for table in tables for texts in table.values() for text in texts]
        within = (*self.replaced.values(), *self.beside.values())
        return any(f"{name}." in code for code in (*within, *added))

    @property
    def lines(self) -> list[int]:
        """Every line where an edit begins, in order."""
        starts = {start[0] for start, _ in (*self.replaced, *self.beside)}
        return sorted(starts.union(self.inserted, self.comments, self.settled, self.dropped))

    @property
    def first_line(self) -> int:
        """The first line that an edit touches."""
        starts = [start[0] for start, _ in (*self.replaced, *self.beside)]
        return min([*starts, *self.inserted, *self.inserted_before])

    @property
    def last_line(self) -> int:
        """The last line that an edit touches."""
        ends = [end[0] for _, end in (*self.replaced, *self.beside)]
        return max([*ends, *self.inserted, *self.inserted_before])

    def __bool__(self) -> bool:
        statements = self.inserted or self.inserted_before or self.comments
        return bool(self.replaced or self.beside or statements)
