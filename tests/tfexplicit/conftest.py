"""Shared by the runtime's tests: a quiet TensorFlow, and how far two results differ."""

from __future__ import annotations

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest


def largest_relative_difference(ours: Sequence[Any], theirs: Sequence[Any]) -> float:
    differences = [
        np.max(np.abs(np.asarray(a) - np.asarray(b)) / np.maximum(np.abs(np.asarray(b)), 1e-3))
        for a, b in zip(ours, theirs, strict=True)
    ]
    return float(max(differences))


@pytest.fixture(scope="session")
def relative_difference() -> Callable[[Sequence[Any], Sequence[Any]], float]:
    return largest_relative_difference


@pytest.fixture(scope="session")
def environment() -> dict[str, str]:
    """For a program in a process of its own: the packages of this checkout and nothing else."""
    root = Path(__file__).parents[2]
    paths = f"{root}{os.pathsep}{root / 'codemod'}"
    return {"PYTHONPATH": paths, "PATH": "", "TF_CPP_MIN_LOG_LEVEL": "3"}
