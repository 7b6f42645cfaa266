"""Where each value stands in a JSON text, so that one can be changed and all else kept."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

_SPACE = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()
# What one character of a string is written as; a pair of surrogates is one character.
_UNIT = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|.", re.DOTALL
)


@dataclass(frozen=True)
class Value:
    """A value of a well-formed JSON text, which spans `start` to `end`."""

    text: str
    start: int
    end: int

    @property
    def raw(self) -> str:
        return self.text[self.start : self.end]

    @property
    def decoded(self) -> Any:
        return _DECODER.raw_decode(self.text, self.start)[0]

    @property
    def members(self) -> dict[str, Value]:
        """The members of an object; of a key that is given twice the last, as `json` has it."""
        if not self.raw.startswith("{"):
            return {}
        return {key.decoded: value for key, value in self._pairs()}

    @property
    def elements(self) -> list[Value]:
        """The elements of an array."""
        return list(self._elements()) if self.raw.startswith("[") else []

    @property
    def units(self) -> list[str]:
        """The characters of a string as they are written."""
        return _UNIT.findall(self.raw[1:-1])

    def _pairs(self) -> Iterator[tuple[Value, Value]]:
        at = self._after_space(self.start + 1)
        while self.text[at] != "}":
            key = self._value_at(at)
            value = self._value_at(self._after_space(key.end) + len(":"))
            yield key, value
            at = self._after_comma(value.end)

    def _elements(self) -> Iterator[Value]:
        at = self._after_space(self.start + 1)
        while self.text[at] != "]":
            value = self._value_at(at)
            yield value
            at = self._after_comma(value.end)

    def _value_at(self, at: int) -> Value:
        start = self._after_space(at)
        return Value(self.text, start, _DECODER.raw_decode(self.text, start)[1])

    def _after_space(self, at: int) -> int:
        space = _SPACE.match(self.text, at)
        assert space
        return space.end()

    def _after_comma(self, at: int) -> int:
        at = self._after_space(at)
        return self._after_space(at + 1) if self.text[at] == "," else at


def whole(text: str) -> Value:
    """The value that a JSON text is; `json.JSONDecodeError` where it is none."""
    json.loads(text)
    space = _SPACE.match(text)
    assert space
    return Value(text, space.end(), _DECODER.raw_decode(text, space.end())[1])
