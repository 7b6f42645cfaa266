"""What is not named may still call what is: only some files of a project are given to a run."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import pytest
from tfexplicit_codemod.exclusion import Exclusion
from tfexplicit_codemod.migration import STDIN, migrate_paths, migrate_stdin
from tfexplicit_codemod.outcome import FileResult
from tfexplicit_codemod.settings import Settings

STEP = """\
import tensorflow as tf

def step(model, optimizer):
    with tf.GradientTape() as tape:
        loss = model.loss
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))

model = tf.keras.Sequential()
optimizer = tf.keras.optimizers.Adam()
step(model, optimizer)
"""
CALLER = """\
import tensorflow as tf
from lib.steps import step

step(tf.keras.Sequential(), tf.keras.optimizers.SGD())
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "lib").mkdir()
    (tmp_path / "app").mkdir()
    (tmp_path / "lib" / "steps.py").write_text(STEP)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def codes(results: list[FileResult]) -> list[str]:
    return [site.code for result in results for site in result.sites]


@pytest.mark.parametrize("named", ["lib/steps.py", "lib", ".", "../{root}/lib/steps.py"])
def test_a_caller_elsewhere_in_the_checkout_is_seen(named: str, project: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=project, check=True)
    path = Path(named.format(root=project.name))
    assert codes(migrate_paths([path], Settings())) == ["TX109"]
    (project / "app" / "main.py").write_text(CALLER)
    results = migrate_paths([path], Settings())
    assert codes(results) == ["TX201"]
    assert {result.path.name for result in results} <= {"steps.py", "main.py"}


def test_an_excluded_caller_is_seen(project: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=project, check=True)
    (project / "app" / "main.py").write_text(CALLER)
    exclude = Exclusion(project, ("app/",))
    results = migrate_paths([Path()], Settings(exclude=exclude))
    assert [result.path for result in results] == [Path("lib/steps.py")]
    assert codes(results) == ["TX201"]


def test_a_caller_in_the_same_folder_is_seen_without_git(project: Path) -> None:
    (project / "lib" / "main.py").write_text(CALLER.replace("lib.steps", "steps"))
    [result] = migrate_paths([Path("lib/steps.py")], Settings())
    assert (result.path, codes([result])) == (Path("lib/steps.py"), ["TX201"])


def test_callers_of_a_program_on_stdin_are_out_of_sight(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(STEP.encode())))
    result = migrate_stdin(Settings())
    assert (result.path, codes([result])) == (STDIN, ["TX201"])
