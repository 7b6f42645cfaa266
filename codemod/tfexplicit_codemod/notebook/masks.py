"""What stands for the lines of a cell that are no Python while Python's parser reads the cell.

A mask is a name around a mark that occurs nowhere in the notebook, so it can be found again. It
goes from where the magic begins to its end, over as many lines, or, before code (`%time f()`), is
as long as what it hides, so that the code keeps its place.
"""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Callable

from tfexplicit_codemod.notebook.looked_up import looked_up

_NAME = r"(?<![\w.])([^\W\d]\w*)"
_READ = r"\.\s*([^\W\d]\w*)"
_STORED = r"\.\s*([^\W\d]\w*)\s*=(?!=)"
LETTER = "\u1401"


class Masks:
    """The masks of one notebook."""

    def __init__(self, whole_text: str, imported: frozenset[str]) -> None:
        mark = LETTER
        while mark in whole_text:
            mark += LETTER
        self.mark = mark
        self.imported = imported
        self._hidden: list[str] = []
        self._pattern = re.compile(
            rf"(?:for [^\r\n]*? in )?{mark}(\d+){mark}(?:\([^()]*\))?(?: *;|:[^\r\n]*)?"
        )

    def inert(self, text: str) -> str:
        """For what binds no name of the notebook; what it reads of them is passed to the mask."""
        return self._mask(text, ", ".join(_names_read_in(text)))

    def before_code(self, text: str) -> str | None:
        """For a magic that only runs the statement after it; None where it is too short."""
        name = self._mask(text)
        return f"{name.ljust(len(text) - 1)};" if len(name) < len(text) else None

    def unread(self, text: str) -> str:
        """For code that cannot be followed: it may bind every name in it, read every attribute."""
        names = self.names_changed_in(text)
        reads = [f"_.{attribute}" for attribute in _names(_READ, text)]
        stores = [f"_.{attribute} = 0" for attribute in _names(_STORED, text)]
        body = "; ".join([*reads, *stores]) or "pass"
        return f"for {', '.join([*names, '_'])} in {self._mask(text)}: {body}"

    def _mask(self, text: str, read: str = "") -> str:
        self._hidden.append(text)
        within = read + "".join(re.findall(r"[\r\n]", text))
        return f"{self.mark}{len(self._hidden) - 1}{self.mark}" + (within and f"({within})")

    def unread_in(self, code: str) -> list[str]:
        """What is hidden there and cannot be followed."""
        masks = self._pattern.finditer(code)
        return [self._hidden[int(mask[1])] for mask in masks if mask[0].startswith("for ")]

    def undone(self, text: str) -> str:
        """The text with all that is hidden back in its place."""
        return self.replaced(text, lambda mask, hidden: hidden)

    def replaced(self, text: str, new: Callable[[str, str], str]) -> str:
        """The text with `new(mask, what it hides)` in place of each mask."""
        return self._pattern.sub(lambda mask: new(mask[0], self._hidden[int(mask[1])]), text)

    def names_changed_in(self, text: str) -> list[str]:
        """What code that cannot be followed may bind anew.

        A module's name is not taken for changed because the code uses the module.
        """
        names = _names(_NAME, text)
        return [n for n in names if n not in self.imported or _may_be_bound(n, text)]


def _names_read_in(line: str) -> list[str]:
    """The names that a magic or a shell line reads, and attributes of whatever objects."""
    code = looked_up(line)
    return [*_names(_NAME, code), *(f"_.{attribute}" for attribute in _names(_READ, code))]


def _may_be_bound(name: str, text: str) -> bool:
    return bool(re.search(rf"\b(?:as|import|def|class|for|del)\s+{name}\b|\b{name}\s*=(?!=)", text))


def _names(pattern: str, text: str) -> list[str]:
    found = set(re.findall(pattern, text))
    return sorted(n for n in found if n.isidentifier() and not keyword.iskeyword(n))


def why_no_python(text: str, lines_above: int) -> str:
    """Why Python cannot read the rest of a cell, or nothing if it can."""
    try:
        # Not at the very start, where a byte order mark would be allowed.
        ast.parse("\n" * (lines_above + 1) + text)
    except SyntaxError as error:
        return f"line {(error.lineno or 2) - 1}: {error.msg}"
    except (ValueError, RecursionError, MemoryError) as error:
        return str(error) or "too deeply nested"
    return ""
