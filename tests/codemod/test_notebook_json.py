"""Only the strings of the sources change; the JSON around them is the same to the byte."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tfexplicit_codemod.notebook.file import NotANotebook, NotebookFile

TEXT = st.text(st.sampled_from('ab\n"\\/é<\u2028\U0001f600\t\x0c\r'), max_size=12)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)


class Layout:
    """Writes JSON with spaces and escapes drawn at random."""

    def __init__(self, draw: Any) -> None:
        self.draw = draw
        self.ascii_only = draw(st.booleans())

    def space(self) -> str:
        return str(self.draw(st.sampled_from(["", "", " ", "\n", "\r\n  ", "\t"])))

    def dumped(self, value: object) -> str:
        if isinstance(value, dict):
            pairs = (
                f"{self.dumped(k)}{self.space()}:{self.space()}{self.dumped(v)}"
                for k, v in value.items()
            )
            return "{" + self.space() + self.joined(pairs) + "}"
        if isinstance(value, list):
            return "[" + self.space() + self.joined(map(self.dumped, value)) + "]"
        text = json.dumps(value, ensure_ascii=self.ascii_only)
        if isinstance(value, str) and self.draw(st.booleans()):
            return text.replace("<", "\\u003c").replace("/", "\\/").replace("a", "\\u0061")
        return text

    def joined(self, parts: Any) -> str:
        return (self.space() + "," + self.space()).join(parts) + self.space()


def code_cell(source: object, other: dict[str, Any]) -> dict[str, Any]:
    kept = {
        key: value for key, value in other.items() if key not in ("cell_type", "source", "input")
    }
    return {**kept, "cell_type": "code", "source": source, "outputs": []}


SOURCES = TEXT | TEXT.map(lambda text: text.splitlines(keepends=True)) | st.lists(TEXT, max_size=3)


@given(st.data())
def test_random_layouts(data: st.DataObject) -> None:
    sources = data.draw(st.lists(SOURCES, min_size=1, max_size=3))
    other = data.draw(st.dictionaries(TEXT, JSON, max_size=3))
    cells = [code_cell(source, other) for source in sources]
    layout = Layout(data.draw)
    before = layout.dumped({**other, "metadata": {}, "cells": cells, "nbformat": 4}).encode()
    notebook = NotebookFile(before)
    assert [cell.text for cell in notebook.cells] == ["".join(source) for source in sources]
    assert notebook.with_sources({}) == before

    number = data.draw(st.integers(0, len(cells) - 1))
    if not notebook.cells[number].text:
        return
    new = data.draw(edited(notebook.cells[number].text))
    after = notebook.with_sources({number: new})
    value = notebook.cells[number].source.value
    head, tail = notebook.json[: value.start], notebook.json[value.end :]
    assert after.decode().startswith(head)
    assert after.decode().endswith(tail)
    read = json.loads(after)["cells"][number]["source"]
    assert "".join(read) == new
    assert isinstance(read, type(sources[number]))


@st.composite
def edited(draw: Any, text: str) -> str:
    """The text with lines added, and one stretch replaced."""
    start = draw(st.integers(0, len(text)))
    end = draw(st.integers(start, len(text)))
    return text[:start] + draw(TEXT) + "x" + text[end:]


def test_a_line_that_stays_keeps_its_spelling_and_one_that_changes_most_of_it() -> None:
    before = (
        b'{"cells":[{"source":["\\u003ca\\u003e\\n", "f(\\u003c, \\u00e9)"], "cell_type":"code"}]}'
    )
    after = NotebookFile(before).with_sources({0: "<a>\nnew = 'é'\ng(<, é)\n"})
    expected = b'["\\u003ca\\u003e\\n", "new = \'\\u00e9\'\\n", "g(\\u003c, \\u00e9)\\n"]'
    assert after == before.replace(b'["\\u003ca\\u003e\\n", "f(\\u003c, \\u00e9)"]', expected)


def test_a_new_line_is_an_element_of_its_own_laid_out_like_the_others() -> None:
    before = b'{"cells": [{"cell_type": "code", "source": [\r\n  "a\\n",\r\n  "b"\r\n ]}]}\r\n'
    after = NotebookFile(before).with_sources({0: "import x\na\nb\nc"})
    lines = b'[\r\n  "import x\\n",\r\n  "a\\n",\r\n  "b\\n",\r\n  "c"\r\n ]'
    assert after == before.replace(b'[\r\n  "a\\n",\r\n  "b"\r\n ]', lines)


def test_a_line_that_goes_takes_its_separator_along() -> None:
    before = b'{"cells": [{"cell_type": "code", "source": ["a\\n",  "b\\n",   "c"]}]}'
    assert b'["a\\n",   "c"]' in NotebookFile(before).with_sources({0: "a\nc"})
    assert b'["b\\n",   "c"]' in NotebookFile(before).with_sources({0: "b\nc"})


@pytest.mark.parametrize("version", [3, 4])
def test_as_nbformat_reads_it(version: int) -> None:
    """Code cells of both formats, where the reference implementation finds them."""
    module = {3: nbformat.v3, 4: nbformat.v4}[version]
    cells = [module.new_code_cell("x = 1\ny = 2"), module.new_code_cell("z = 3")]
    if version == 3:
        notebook = module.new_notebook(worksheets=[module.new_worksheet(cells=cells)])
    else:
        notebook = module.new_notebook(cells=[module.new_markdown_cell("x"), *cells])
    before = nbformat.writes(notebook, version=version).encode()
    read = NotebookFile(before)
    assert [cell.text for cell in read.cells] == ["x = 1\ny = 2", "z = 3"]
    first = read.cells[0].index
    assert first == (0 if version == 3 else 1)
    after = read.with_sources({first: "x = 1\ny = 5\nw"})
    again = nbformat.reads(after.decode(), as_version=4)
    texts = [cell.source for cell in again.cells if cell.cell_type == "code"]
    assert texts == ["x = 1\ny = 5\nw", "z = 3"]
    assert re.sub(rb'2"|5\\n",\s*"w"', b"", after) == re.sub(rb'2"', b"", before)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (b'{"cells": [', "1:12: not JSON"),
        (b'{"cells": [\n<<<<<<< HEAD\n', "2:1: not JSON"),
        (b"[]", "not a notebook"),
        (b'"apply_gradients"', "not a notebook"),
        (b'{"a": 1}', "not a notebook"),
    ],
)
def test_what_is_no_notebook(source: bytes, message: str) -> None:
    with pytest.raises(NotANotebook, match=message):
        NotebookFile(source)


ODD_CELLS: list[object] = [
    [None],
    [{}],
    [{"cell_type": "code"}],
    [{"cell_type": "code", "source": 3}],
    [{"cell_type": "code", "source": ["a", 1]}],
    [{"cell_type": 1, "source": "x"}],
    {},
    None,
    "x",
]


@pytest.mark.parametrize("cells", ODD_CELLS)
def test_odd_cells_are_no_code(cells: object) -> None:
    assert NotebookFile(json.dumps({"cells": cells}).encode()).cells == []


def test_byte_order_mark_is_kept(tmp_path: Path) -> None:
    before = b'\xef\xbb\xbf{"cells": [{"cell_type": "code", "source": "a"}]}'
    assert NotebookFile(before).with_sources({0: "b"}) == before.replace(b'"a"', b'"b"')
