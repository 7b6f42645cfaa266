"""The cells of a notebook, which Python knows by the names of files that do not exist."""

from __future__ import annotations

import sys
from typing import Any

from tfexplicit.warn.call_site import CallSite


def cell_of(site: CallSite) -> str:
    """`In [3], line 2: ` for a line of a cell; nothing for a line of a file."""
    number = _number_of(site.file)
    return "" if number is None else f"In [{number}], line {site.line}: "


def _number_of(file: str) -> int | None:
    ipython: Any = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is None:
        return None
    known: dict[str, int] = getattr(shell.compile, "_filename_map", {})
    return known.get(file)
