"""A program that is cut into cells becomes what it becomes as a file, cut at the same places."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Iterable
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tfexplicit_codemod.notebook.migrate import migrate_notebook
from tfexplicit_codemod.registry import all_rules

PATTERNS = sorted((Path(__file__).parent / "data" / "patterns").iterdir())
# The other codes are of cells, or of mistakes that are seen at run time only.
REWRITES = [rule for rule in all_rules() if not rule.is_cell and rule.code < "TX3"]
PROGRAMS = {
    **{
        folder.name: ((folder / "before.py").read_text(), (folder / "after.py").read_text())
        for folder in PATTERNS
    },
    **{rule.code: (rule.before, rule.after) for rule in REWRITES},
}
MAGICS = "%%time\n", "%%capture output\n%%time\n"
ASIDES = "%%bash\nls $(\n", "!pip install 'a\n", "%matplotlib inline\n", "model?\n", "\n"


def first_lines(program: str) -> list[int]:
    """Where a cell may begin: the first lines of statements that share them with no other."""
    starts = []
    for statement in ast.parse(program).body:
        decorators = getattr(statement, "decorator_list", [])
        starts.append(min([statement.lineno, *(each.lineno for each in decorators)]))
    return sorted({start for start in starts if starts.count(start) == 1} - {1})


def cut(program: str, at: Iterable[int]) -> list[str]:
    lines = program.splitlines(keepends=True)
    edges = [0, *(line - 1 for line in at), len(lines)]
    return ["".join(lines[i:j]) for i, j in pairwise(edges)]


def without_our_import(program: str) -> list[str]:
    return [line for line in program.splitlines() if "import tfexplicit" not in line]


def sources(notebook: bytes) -> list[str]:
    return ["".join(cell["source"]) for cell in json.loads(notebook)["cells"]]


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_statement_a_cell(name: str, as_notebook: Callable[..., bytes]) -> None:
    before, after = PROGRAMS[name]
    result = migrate_notebook(as_notebook(*cut(before, first_lines(before))), Path("nb.ipynb"))
    assert result.after is not None, result
    assert "".join(sources(result.after)) == after
    again = migrate_notebook(result.after, Path("nb.ipynb"))
    assert again.after is None


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_cells_with_magics_between_them(data: st.DataObject) -> None:
    before, after = PROGRAMS[data.draw(st.sampled_from(sorted(PROGRAMS)))]
    edges = data.draw(st.lists(st.sampled_from(first_lines(before)), unique=True).map(sorted))
    cells = []
    for text in cut(before, edges):
        magic = data.draw(st.sampled_from(["", "", *MAGICS]))
        cells += [magic + text, *data.draw(st.lists(st.sampled_from(ASIDES), max_size=1))]
    notebook = {"cells": [{"cell_type": "code", "source": [text]} for text in cells]}
    result = migrate_notebook(json.dumps(notebook).encode(), Path("nb.ipynb"))
    assert result.after is not None, result
    texts = sources(result.after)
    for text in (*MAGICS[::-1], *ASIDES[:-1]):
        texts = [each.removeprefix(text) for each in texts]
    joined = "".join(each for each in texts if each != "\n")
    # A magic ends a run of imports, so ours may come before one that it follows in a file.
    assert without_our_import(joined) == without_our_import(after)
    assert joined.count("import tfexplicit") == after.count("import tfexplicit")
