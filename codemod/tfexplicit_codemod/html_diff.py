"""A file before and after, side by side, as an HTML table."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from html import escape

from tfexplicit_codemod.decoding import decoded
from tfexplicit_codemod.outcome import FileResult

CONTEXT = 3  # lines around a change
LINE_END = re.compile("\r\n|\r|\n")

COLUMNS = '<col class="narrow"><col>'


def side_by_side(result: FileResult) -> str:
    """The changed parts with some lines around them; on a narrow screen one below the other."""
    assert result.after is not None
    before, after = LINE_END.split(decoded(result.before)), LINE_END.split(decoded(result.after))
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    parts = "".join(
        f'<tbody><tr><th colspan="4" scope="rowgroup">line {part[0][1] + 1}</th></tr>'
        f"{''.join(_rows(part, before, after))}</tbody>"
        for part in matcher.get_grouped_opcodes(CONTEXT)
    )
    return (
        f'<table class="diff"><caption>{escape(str(result.path))}, before and after</caption>'
        f"<colgroup>{COLUMNS}{COLUMNS}</colgroup>"
        '<thead><tr><th colspan="2" scope="col">before</th>'
        f'<th colspan="2" scope="col">after</th></tr></thead>{parts}</table>'
    )


def _rows(
    part: Sequence[tuple[str, int, int, int, int]], before: list[str], after: list[str]
) -> Iterator[str]:
    for what, start, end, new_start, new_end in part:
        for offset in range(max(end - start, new_end - new_start)):
            old, new = start + offset, new_start + offset
            left = _cells(old, before[old], "del", what) if old < end else EMPTY
            right = _cells(new, after[new], "ins", what) if new < new_end else EMPTY
            yield f'<tr class="{"same" if what == "equal" else "other"}">{left}{right}</tr>'


def _cells(index: int, line: str, element: str, what: str) -> str:
    text = escape(line) if what == "equal" else f"<{element}>{escape(line)}</{element}>"
    return f'<td class="number">{index + 1}</td><td class="code">{text}</td>'


EMPTY = '<td class="number none"></td><td class="code none"></td>'
