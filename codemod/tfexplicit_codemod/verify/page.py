"""The verdict as one HTML page: words, picture, table, and the diff of the code."""

from __future__ import annotations

import base64
from html import escape

from tfexplicit_codemod.html_diff import side_by_side
from tfexplicit_codemod.html_page import page, table
from tfexplicit_codemod.verify.picture import picture_of
from tfexplicit_codemod.verify.report import COLUMNS, rows, usage
from tfexplicit_codemod.verify.verdict import Verdict


def report(verdict: Verdict) -> str:
    return page(
        verdict.options.title,
        [_words(verdict), _picture(verdict), _updates(verdict), *_diffs(verdict)],
    )


def _words(verdict: Verdict) -> str:
    lines = [*verdict.lines, *usage(verdict), *verdict.notes, *verdict.changes.notes]
    words = "".join(f"<p>{escape(line)}</p>" for line in lines)
    badge = "changed" if verdict.status.exit_code == 0 else "failed"
    title = f'<span class="badge {badge}">{escape(verdict.status.value)}</span>'
    return f'<section id="verdict"><h2>Training: {title}</h2>{words}</section>'


def _picture(verdict: Verdict) -> str:
    image = base64.b64encode(picture_of(verdict, "svg")).decode()
    return (
        '<section id="picture"><h2>Curves</h2>'
        '<img alt="Curves of both programs, and their difference" style="max-width: 100%; '
        f'background: white" src="data:image/svg+xml;base64,{image}"></section>'
    )


def _updates(verdict: Verdict) -> str:
    heads = [" ".join(column.split()) for column in COLUMNS]
    cells = [[escape(cell) for cell in row] for row in rows(verdict)]
    return f'<section id="updates"><h2>Updates</h2>{table(heads, cells)}</section>'


def _diffs(verdict: Verdict) -> list[str]:
    return [
        f"<section><h2>{escape(str(result.path))}</h2>{side_by_side(result)}</section>"
        for result in verdict.changes.proven
    ]
