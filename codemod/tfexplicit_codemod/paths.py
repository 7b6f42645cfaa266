"""Paths as reports show them."""

from __future__ import annotations

from pathlib import Path


def relative_to_here(path: Path) -> Path:
    """From the working folder, where the file lies in it; else as it is."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path
