"""The guide's pages are those of the registry."""

from __future__ import annotations

from pathlib import Path

from tfexplicit_codemod.guide import pages, write_pages
from tfexplicit_codemod.registry import all_rules

CODES = Path(__file__).parents[2] / "migration_guide" / "codes"


def test_bug_55_the_committed_pages_are_the_rendered_ones() -> None:
    committed = {page.name: page.read_text("utf-8") for page in CODES.glob("*.md")}
    assert committed == pages(), "run: python -m tfexplicit_codemod.guide migration_guide/codes"


def test_bug_55_the_index_links_every_page() -> None:
    index = pages()["README.md"]
    for rule in all_rules():
        assert f"[{rule.code}]({rule.code}.md)" in index


def test_a_page_of_a_code_that_is_gone_is_removed(tmp_path: Path) -> None:
    (tmp_path / "TX999.md").write_text("gone")
    write_pages(tmp_path)
    assert sorted(page.name for page in tmp_path.iterdir()) == sorted(pages())
