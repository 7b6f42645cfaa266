"""A notebook as a script that Python runs."""

from __future__ import annotations

import ast
import re

from tfexplicit_codemod.notebook.cells import Cells
from tfexplicit_codemod.notebook.file import NotebookFile
from tfexplicit_codemod.notebook.imports import imports_in

_RUN = re.compile(r"%run[ \t]+(?:-\w+[ \t]+)*(?:\.{0,2}/)*([\w/]+)\.py\b")


def as_script(source: bytes) -> str:
    """The code of the notebook's cells, without magics and cells that are not read.

    What is left of those is what they import, a script that is `%run` included. `ValueError` where
    the bytes are no notebook.
    """
    cells = Cells(NotebookFile(source).cells)
    return cells.masks.replaced(cells.program, _as_python)


def _as_python(mask: str, hidden: str) -> str:
    if mask.endswith(";"):
        return "None;"
    if mask.startswith("for "):
        return "; ".join(map(ast.unparse, imports_in(hidden))) or "None"
    run = _RUN.match(hidden)
    return f"from {run[1].replace('/', '.')} import *" if run else "None"
