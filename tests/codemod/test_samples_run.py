"""The samples of the codes are programs: each runs, and the rewritten ones train as before."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tfexplicit_codemod.cli import main
from tfexplicit_codemod.registry import Rule, all_rules

REWRITES = [pytest.param(rule, id=rule.code) for rule in all_rules() if rule.is_rewrite]
LEFT = [
    rule for rule in all_rules() if not (rule.is_rewrite or rule.is_cell or rule.is_run_time_only)
]
RUN_ALL = """\
import runpy, sys
for path in sys.argv[1:]:
    print("running", path, file=sys.stderr)
    runpy.run_path(path, run_name="__main__")
"""


@pytest.mark.parametrize("rule", REWRITES)
def test_a_rewritten_sample_trains_as_before(
    rule: Rule, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / "sample.py"
    script.write_text(rule.before)
    code = main(["verify", str(script)])
    assert code == 0, capfd.readouterr().out


def test_the_samples_that_are_left_run(tmp_path: Path) -> None:
    """In one process, since most of the time goes into importing TensorFlow."""
    for rule in LEFT:
        (tmp_path / f"{rule.code}.py").write_text(rule.after)
    scripts = sorted(map(str, tmp_path.glob("*.py")))
    assert len(scripts) == len(LEFT)
    ran = subprocess.run(
        [sys.executable, "-c", RUN_ALL, *scripts], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
