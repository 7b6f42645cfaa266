"""What the run and the file's own comments want: `# tfexplicit: ignore[TX103]`.

A site that is not wanted stays as it is, without a TODO and without a line in the report; it is
only counted as ignored.
"""

from __future__ import annotations

import re

from tfexplicit_codemod.analysis.source import Source
from tfexplicit_codemod.selection import Selection

COMMENT = re.compile(r"#\s*tfexplicit:\s*ignore\b(?:\[(?P<codes>[^\]]*)\])?")
ALL = "*"


class Wanted:
    """A selection of codes, less what comments ignore on their lines."""

    def __init__(self, source: Source, selection: Selection) -> None:
        self.selection = selection
        found = {number: COMMENT.search(line) for number, line in enumerate(source.lines, start=1)}
        self.ignored = {
            number: _codes(comment)
            for number, comment in found.items()
            if comment and number in source.comment_lines
        }

    def wants(self, code: str, first: int, last: int) -> bool:
        """False where the run does not take the code, or a comment on these lines ignores it."""
        given = [self.ignored.get(line, frozenset()) for line in range(first, last + 1)]
        return self.selection.takes(code) and not any({code, ALL} & codes for codes in given)


def _codes(comment: re.Match[str]) -> frozenset[str]:
    if comment["codes"] is None:
        return frozenset({ALL})
    return frozenset(code.strip().upper() for code in comment["codes"].split(","))
