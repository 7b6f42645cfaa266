"""Prints a run in one of its formats; each has a file `report_<format>.py`, loaded when needed."""

from __future__ import annotations

import importlib
import sys
from typing import TextIO

from tfexplicit_codemod.run import Run


def print_report(run: Run, format: str, to: TextIO | None = None) -> None:
    """Prints to stdout, or to another stream."""
    report = importlib.import_module(f"tfexplicit_codemod.report_{format}")
    text: str = report.report(run)
    if text:
        print(text, file=sys.stdout if to is None else to)
