"""`--from-log`: what a run has seen decides where the source does not tell."""

from __future__ import annotations

from pathlib import Path

import pytest
from tfexplicit_codemod.cli import main
from tfexplicit_codemod.outcome import Site
from tfexplicit_codemod.run_log import RunLog

PROGRAM = """\
import tensorflow as tf
from somewhere import make_optimizer

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
optimizer = make_optimizer()


def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(model(x))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(PROGRAM)
    return tmp_path


def write_log(project: Path, optimizer: str) -> None:
    log = RunLog(project / "sites.json")
    site = Site(12, 5, "TX101", "optimizer.apply_gradients(...)")
    log.add(project / "train.py", site, optimizer)
    log.write()


MIGRATE = ["migrate", "--allow-dirty", "--from-log", "sites.json", "train.py"]


@pytest.mark.parametrize(
    ("optimizer", "is_rewritten"),
    [
        ("keras.src.optimizers.adam.Adam", True),
        ("research.optimizers.LARS", True),
        ("tfexplicit.rules.adam.Adam", False),
    ],
)
def test_a_receiver_that_ran_as_a_keras_optimizer_is_one(
    project: Path, optimizer: str, is_rewritten: bool
) -> None:
    write_log(project, optimizer)
    assert main(MIGRATE) == 0
    after = (project / "train.py").read_text()
    assert ("opt_state = tx.setup(optimizer, model)" in after) is is_rewritten
    assert ("tx.update(opt_state, model, grads)" in after) is is_rewritten
    assert ("TODO(tfexplicit TX205)" in after) is not is_rewritten


def test_a_file_that_was_edited_since_is_refused(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_log(project, "keras.src.optimizers.adam.Adam")
    edited = f"# edited\n{PROGRAM}"
    (project / "train.py").write_text(edited)
    assert main(MIGRATE) == 3
    assert "another text of this file, which was edited since" in capsys.readouterr().out
    assert (project / "train.py").read_text() == edited


def test_a_file_that_did_not_run_is_read_as_without_a_log(project: Path) -> None:
    write_log(project, "keras.src.optimizers.adam.Adam")
    (project / "other.py").write_text(PROGRAM)
    assert main([*MIGRATE[:-1], "other.py"]) == 0
    assert "TODO(tfexplicit TX205)" in (project / "other.py").read_text()


@pytest.mark.parametrize(("name", "words"), [("no.json", "there is no file"), ("train.py", "log")])
def test_what_is_no_log_is_refused(
    project: Path, capsys: pytest.CaptureFixture[str], name: str, words: str
) -> None:
    assert main(["check", "--from-log", name, "train.py"]) == 2
    assert words in capsys.readouterr().err
