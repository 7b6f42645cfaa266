"""How the program is started, from the words of the command."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from tfexplicit_codemod.cli import main
from tfexplicit_codemod.verify import run as run_module
from tfexplicit_codemod.verify.options import Options

COPY = Path("/copy")


@pytest.mark.parametrize(
    ("words", "command"),
    [
        ("src/train.py", ["src/train.py"]),
        ("src/train.py -- --epochs 1 -- x", ["src/train.py", "--epochs", "1", "--", "x"]),
        ("src/train.py --steps 3 -- --steps 9", ["src/train.py", "--steps", "9"]),
        ("--steps 3 src/train.py -- x", ["src/train.py", "x"]),
        ("{here}/src/train.py", ["/copy/src/train.py"]),
        ("-m package.train -- --epochs 1", ["-m", "package.train", "--epochs", "1"]),
        ("--steps 3 -- pytest -q tests", ["-m", "pytest", "-q", "tests"]),
    ],
)
def test_the_command(
    words: str, command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "train.py").touch()
    monkeypatch.chdir(tmp_path)
    given: list[Options] = []
    monkeypatch.setattr(run_module, "verify", lambda options: given.append(options) or 0)
    assert main(["verify", *words.format(here=tmp_path).split()]) == 0
    [options] = given
    assert options.steps == (3 if "--steps 3" in words else None)
    script = Path("src/train.py") if options.target.script else None
    assert options.target.command(COPY, COPY, script) == [sys.executable, *command]
