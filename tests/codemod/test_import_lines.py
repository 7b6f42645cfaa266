"""The quick look at a text finds every import that Python finds in it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from tfexplicit_codemod.decoding import decoded
from tfexplicit_codemod.import_lines import names_seemingly_imported
from tfexplicit_codemod.project_imports import ProjectImports
from tfexplicit_codemod.reach import Reach

SPELLINGS = (
    "import a",
    "import a.b, c as d",
    "import a, \\\n  b",
    "from . import a",
    "from.import a",
    "from .a import(b)",
    "from a . b import c as d",
    "from a import *",
    "from a import (  # one (or two)\n    b,  # )\n    c as d,\n)",
    "from a \\\n  import b, \\\n  c",
    "if x: import a; import b",
    "try: from a import b\nexcept ImportError: import c # d",
    "# no continuation \\\nimport a",
    "x = 1 \\\n\nimport a",
    "def f():\n\timport a\n\tfrom .. import b",
    "import é.ﬁ",
)


def imported(text: str) -> set[tuple[str, ...]]:
    found: set[tuple[str, ...]] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {tuple(alias.name.split(".")) for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            module = node.module.split(".") if node.module else []
            found |= {(*module, alias.name) for alias in node.names}
    return found


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("text", SPELLINGS)
def test_every_spelling(text: str, newline: str) -> None:
    assert imported(text)
    assert imported(text) <= set(names_seemingly_imported(text.replace("\n", newline)))


def test_files_of_the_standard_library() -> None:
    for path in Path(ast.__file__).parent.glob("[a-d]*.py"):
        text = decoded(path.read_bytes())
        assert imported(text) <= set(names_seemingly_imported(text)), path


def test_an_import_in_a_string_is_none(tmp_path: Path) -> None:
    texts = {"a.py": '"""\nimport b\n"""\nimport c', "b.py": "import d", "c.py": "", "d.py": ""}
    files = {tmp_path / name: text.encode() for name, text in texts.items()}
    imports = ProjectImports(files, files.__getitem__)
    start = tmp_path / "a.py"
    reached = [file.name for file in files if Reach(imports, file.__eq__).has(start)]
    assert reached == ["a.py", "c.py"]
