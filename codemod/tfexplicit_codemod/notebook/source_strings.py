"""The JSON strings that hold the source of a cell, and how they are written anew.

A source is one string, or a list of strings of a line each. What is kept keeps its spelling:
`\\u003c` stays `\\u003c`, and a separator keeps its spaces.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from itertools import pairwise

from tfexplicit_codemod.notebook.json_text import Value

Units = list[tuple[str, str, int]]
"""Characters, each with its spelling and the number of the string that it stands in."""


@dataclass(frozen=True)
class SourceStrings:
    """The value of a cell's `source`."""

    value: Value

    @cached_property
    def strings(self) -> list[Value]:
        return self.value.elements or ([self.value] if self.value.raw.startswith('"') else [])

    @cached_property
    def text(self) -> str:
        return "".join(string.decoded for string in self.strings)

    def place_of(self, line: int) -> tuple[int, int]:
        """Where the JSON holds a line of the text: line and column of its string, from 1."""
        at = [0, *(end.end() for end in re.finditer("\r\n|\r|\n", self.text))][line - 1]
        for string in self.strings:
            at -= len(string.decoded)
            if at < 0:
                break
        above = self.value.text[: string.start]
        return above.count("\n") + 1, string.start - (above.rfind("\n") + 1) + 1

    def changed_to(self, new: str) -> str:
        """The JSON of the source with this text."""
        written = self._written(new)
        if not self.value.elements:
            return _quoted(written[0])
        if all(_is_line(element.decoded) for element in self.value.elements):
            written = _in_lines([unit for units in written for unit in units])
        return self._as_list([units for units in written if units])

    def _written(self, new: str) -> list[Units]:
        """For each string of the source, what it becomes."""
        ascii_only = self.value.text.isascii()
        result: list[Units] = []
        starts = [0]
        for number, string in enumerate(self.strings):
            pairs = zip(string.decoded, string.units, strict=True)
            result.append([(character, spelling, number) for character, spelling in pairs])
            starts.append(starts[-1] + len(result[-1]))
        last_number = len(result) - 1
        for start, end, text in reversed(list(_edits(self.text, new))):
            for number in reversed(range(len(result))):
                first, last = starts[number], starts[number + 1]
                is_home = first <= start < last or (start == last and number == last_number)
                if is_home or (start < last and first < end):
                    cut = slice(max(start, first) - first, min(end, last) - first)
                    spelt = _spelt(text, number, ascii_only=ascii_only) if is_home else []
                    result[number][cut] = spelt
        return result

    def _as_list(self, strings: list[Units]) -> str:
        """The list of these strings, with the separators that stood before those that stay."""
        text, elements = self.value.text, self.value.elements
        opening = text[self.value.start + 1 : elements[0].start]
        closing = text[elements[-1].end : self.value.end - 1]
        between = [text[one.end : other.start] for one, other in pairwise(elements)]
        usual = between[0] if between else "," + (opening or " ")
        result, used = "", {0}
        for units in strings:
            number = units[0][2]
            if result:
                result += usual if number in used else between[number - 1]
            used.add(number)
            result += _quoted(units)
        return f"[{opening}{result}{closing}]"


def _is_line(text: str) -> bool:
    return "\n" not in text[:-1]


def _spelt(text: str, number: int, *, ascii_only: bool) -> Units:
    return [(c, json.dumps(c, ensure_ascii=ascii_only)[1:-1], number) for c in text]


def _edits(old: str, new: str) -> Iterator[tuple[int, int, str]]:
    """What to put in place of which stretches of the old text, as little as possible."""
    at = 0
    for same, before, after in _stretches(_lines(old), _lines(new)):
        if not same:
            start = at
            for same_text, gone, come in _stretches("".join(before), "".join(after)):
                if not same_text:
                    yield start, start + len(gone), "".join(come)
                start += len(gone)
        at += len("".join(before))


def _stretches(
    old: Sequence[str], new: Sequence[str]
) -> Iterator[tuple[bool, Sequence[str], Sequence[str]]]:
    """What is the same in both, and what stands for what, in turn."""
    for kind, i, j, k, m in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        yield kind == "equal", old[i:j], new[k:m]


def _lines(text: str) -> list[str]:
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _in_lines(units: Units) -> list[Units]:
    lines: list[Units] = [[]]
    for unit in units:
        lines[-1].append(unit)
        if unit[0] == "\n":
            lines.append([])
    return [line for line in lines if line]


def _quoted(units: Units) -> str:
    return f'"{"".join(spelling for _, spelling, _ in units)}"'
