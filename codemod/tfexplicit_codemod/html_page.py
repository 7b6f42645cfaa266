"""An HTML page that needs nothing else: no script, no network, no build step."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from pathlib import Path

from tfexplicit_codemod.version import VERSION

STYLE = Path(__file__).with_name("report_html.css")


def page(title: str, sections: Iterable[str]) -> str:
    """Sections are HTML; the title is text."""
    body = "\n".join(
        [
            f"<header><h1>{escape(title)}</h1><p>tfexplicit {VERSION}</p></header>",
            "<main>",
            *sections,
            "</main>",
        ]
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>\n{STYLE.read_text('utf-8')}</style>\n"
        f"</head>\n<body>\n{body}\n</body>\n</html>"
    )


def table(heads: list[str], rows: Iterable[list[str]]) -> str:
    """Cells are HTML; each repeats its head for narrow screens, where a row is a block."""
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in heads)
    body = "".join(
        "<tr>"
        + "".join(
            f'<td data-head="{escape(name)}">{cell}</td>'
            for name, cell in zip(heads, row, strict=True)
        )
        + "</tr>"
        for row in rows
    )
    return f'<table class="rows"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
