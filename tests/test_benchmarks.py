"""The benchmarks run; how fast what they measure is, is not tested."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
FIGURES = {
    "seconds",
    "times_keras",
    "share_of_limit",
    "first_call_seconds",
    "graph_nodes",
    "step_memory_bytes",
    "step_memory_of_parameters",
}
MAIN = ["memory limit", "Keras 3, tf.function", "tfexplicit, tf.function"]


def measured(folder: Path, *arguments: str) -> list[dict[str, Any]]:
    """The results of a run on two leaves, for Adam."""
    output = folder / "step_speed.json"
    command = [sys.executable, str(ROOT / "tests/benchmarks/step_speed.py"), "--rounds", "2"]
    command += ["--rules", "Adam", "--output", str(output), *arguments]
    path = os.pathsep.join([str(ROOT), str(ROOT / "codemod")])
    subprocess.run(command, env={**os.environ, "PYTHONPATH": path}, check=True)
    results: list[dict[str, Any]] = json.loads(output.read_text())["results"]
    return results


def test_every_figure_is_in_the_json(tmp_path: Path) -> None:
    results = measured(tmp_path, "--workloads", "tiny", "--contenders", *MAIN)
    by_name = {result["contender"].partition(",")[0]: result for result in results}
    assert set(by_name) == {"memory limit", "Keras 3", "tfexplicit"}
    for name, result in by_name.items():
        has_no_graph = {"graph_nodes"} if name == "memory limit" else set()
        on_linux_only = {"step_memory_bytes", "step_memory_of_parameters"}
        absent = has_no_graph | (set() if sys.platform.startswith("linux") else on_linux_only)
        assert {figure for figure in FIGURES if result[figure] is None} == absent


@pytest.mark.slow
@pytest.mark.parametrize("workload", ["tiny", "tiny table", "ResNet", "Transformer"])
def test_every_contender_that_is_installed_steps(tmp_path: Path, workload: str) -> None:
    results = measured(tmp_path, "--workloads", workload)
    assert results
    assert [result for result in results if "failed" in result] == []
