"""The pytest plugin: a test fails at a line that updates implicitly, unless it is allowed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

TESTS = """\
import keras
import tensorflow as tf

v = tf.Variable(1.0)
optimizer = keras.optimizers.SGD(0.5)


def test_old():
    optimizer.apply_gradients([(tf.constant(1.0), v)])


def test_new():
    pass
"""


def run(folder: Path, environment: dict[str, str], *options: str) -> tuple[int, str]:
    command = [sys.executable, "-m", "pytest", "-p", "tfexplicit_codemod.pytest_plugin"]
    result = subprocess.run(
        [*command, "-p", "no:cacheprovider", "-q", *options],
        capture_output=True,
        text=True,
        cwd=folder,
        env=environment | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        check=False,
    )
    return result.returncode, result.stdout + result.stderr


def test_error_and_the_lines_that_are_allowed(tmp_path: Path, environment: dict[str, str]) -> None:
    tests = tmp_path / "test_train.py"
    tests.write_text(TESTS)
    code, output = run(tmp_path, environment, "--tfexplicit-warn=error")
    assert code == 1
    assert "1 failed, 1 passed" in output
    assert f"{tests}:9: `optimizer.apply_gradients`" in output

    options = ("--tfexplicit-warn=error", "--tfexplicit-allow=allowed.txt")
    assert run(tmp_path, environment, *options)[0] == 0
    allowed = (tmp_path / "allowed.txt").read_text()
    assert allowed == "test_train.py: optimizer.apply_gradients([(tf.constant(1.0), v)])\n"

    tests.write_text(TESTS.replace("    pass", "    optimizer.apply([tf.constant(1.0)], [v])"))
    code, output = run(tmp_path, environment, *options)
    assert code == 1
    assert "1 failed, 1 passed" in output
    assert (tmp_path / "allowed.txt").read_text() == allowed


def test_allowed_lines_need_the_error_mode(tmp_path: Path, environment: dict[str, str]) -> None:
    code, output = run(tmp_path, environment, "--tfexplicit-allow=allowed.txt")
    assert code == 4
    assert "needs --tfexplicit-warn=error" in output
