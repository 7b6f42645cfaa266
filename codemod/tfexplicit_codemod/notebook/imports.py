"""The imports in a text that need not be Python as a whole."""

from __future__ import annotations

import ast
import re

Import = ast.Import | ast.ImportFrom
_LINE = re.compile(r"^[ \t]*((?:import|from)\b[^\r\n]*)", re.MULTILINE)


def imports_in(text: str) -> list[Import]:
    """Every import that stands on one line of its own."""
    found: list[Import] = []
    for line in _LINE.findall(text):
        try:
            statements = ast.parse(line).body
        except (SyntaxError, ValueError):
            continue
        found += [each for each in statements if isinstance(each, ast.Import | ast.ImportFrom)]
    return found


def names_imported_in(text: str) -> frozenset[str]:
    """The names that those imports bind."""
    aliases = [alias for each in imports_in(text) for alias in each.names]
    return frozenset((alias.asname or alias.name).split(".")[0] for alias in aliases)
