"""Renders the registry: what `explain` prints and the guide's pages, from one source.

`python -m tfexplicit_codemod.guide migration_guide/codes` writes the pages.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tfexplicit_codemod.registry import Rule, all_rules

_LEFT = (
    "`tfexplicit migrate` leaves this site as it is, with a `TODO` comment: it goes on working, "
    "and a person decides."
)
_LEFT_CELL = (
    "`tfexplicit migrate` leaves the cell as it is, without a comment: the report names it, and a "
    "person decides."
)

_AT_RUN_TIME = (
    "A [warning](../warnings.md) says this when the program runs the line; `check` and `migrate` "
    "do not look for it."
)


def render_page(rule: Rule) -> str:
    """The guide's page for one code, as Markdown."""
    language = "text" if rule.is_cell else "python"
    return (
        f"# {rule.code}: {rule.name}\n\n{rule.summary}\n\n{_kind(rule)}\n\n"
        f"## Before\n\n{_code(rule.before, language)}\n## After\n\n{_code(rule.after, language)}\n"
        f"{_warning(rule)}## Why\n\n{rule.why.strip()}\n\nSince {rule.since}.\n"
    )


def _kind(rule: Rule) -> str:
    if rule.is_run_time_only:
        return _AT_RUN_TIME
    if rule.is_cell:
        return _LEFT_CELL
    return "`tfexplicit migrate` rewrites this." if rule.is_rewrite else _LEFT


def _warning(rule: Rule) -> str:
    said = rule.at_run_time
    if said is None:
        return ""
    return f"## The warning\n\n{said.does} Write {said.write}.\n\nNames in braces are yours.\n\n"


def render_index() -> str:
    """The table of all codes, as Markdown."""
    rows = [
        f"| [{rule.code}]({rule.code}.md) | {rule.name} | {rule.summary} |" for rule in all_rules()
    ]
    return "\n".join(
        [
            "# Codes",
            "",
            "TX1xx: a rewrite. TX2xx: why a site is left for a person. TX3xx: a mistake that a "
            "[warning](../warnings.md) tells of when the program runs. `tfexplicit explain CODE` "
            "prints the same pages.",
            "",
            "| code | name | what it is |",
            "| --- | --- | --- |",
            *rows,
            "",
        ]
    )


def pages() -> dict[str, str]:
    """Every generated page, by its file name."""
    return {f"{rule.code}.md": render_page(rule) for rule in all_rules()} | {
        "README.md": render_index()
    }


def write_pages(folder: Path) -> None:
    """Makes the folder hold the pages of the present codes, and no page of a code that is gone."""
    folder.mkdir(parents=True, exist_ok=True)
    for stale in set(folder.glob("*.md")) - {folder / name for name in pages()}:
        stale.unlink()
    for name, text in pages().items():
        (folder / name).write_text(text, "utf-8")


def _code(source: str, language: str) -> str:
    return f"```{language}\n{source.strip()}\n```\n"


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m tfexplicit_codemod.guide FOLDER")
    write_pages(Path(sys.argv[1]))
