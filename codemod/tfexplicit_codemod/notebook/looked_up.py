"""The names that a magic or a shell line looks up in the notebook: `!echo {step} $rate`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from string import Formatter

_DOLLAR = re.compile(r"\$([\w.]+)")


def looked_up(line: str) -> str:
    """The parts of a line that may name what the notebook holds.

    A magic may take a name as its argument, too (`%store optimizer`): all of it counts.
    """
    if line.startswith("%"):
        return line
    try:
        return " ".join(_interpolated(line))
    except ValueError:
        # With braces that do not match, IPython replaces nothing.
        return ""


def _interpolated(line: str) -> Iterator[str]:
    for text, expression, after_colon, _ in Formatter().parse(line):
        yield from _DOLLAR.findall(text)
        yield from (expression or "", after_colon or "")
