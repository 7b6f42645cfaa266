"""`TFEXPLICIT_WARN_LOG`: the sites that ran are written in the report format of `check`."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tfexplicit_codemod.cli import main
from tfexplicit_codemod.outcome import Site
from tfexplicit_codemod.run_log import RunLog

# Static analysis cannot tell what the receiver is, nor that the worker's line is the same.
HELPERS = """\
import tensorflow as tf


def step(optimizer, v):
    with tf.GradientTape() as tape:
        loss = v * v
    optimizer.apply_gradients([(tape.gradient(loss, v), v)])
"""
PROGRAM = """\
import multiprocessing

import tensorflow as tf
import tfexplicit as tx
from helpers import step

v = tf.Variable(1.0)


def work():
    optimizer = getattr(tf.keras.optimizers, "Adam")()
    optimizer.apply_gradients([(v * 1.0, v)])


if __name__ == "__main__":
    for _ in range(2):
        step(tf.keras.optimizers.SGD(0.5), v)
    worker = multiprocessing.get_context("spawn").Process(target=work)
    worker.start()
    worker.join()
"""


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    (folder / "helpers.py").write_text(HELPERS)
    (folder / "train.py").write_text(PROGRAM)
    result = subprocess.run(
        [sys.executable, "train.py"],
        capture_output=True,
        text=True,
        cwd=folder,
        env=os.environ
        | {
            "TFEXPLICIT_WARN_LOG": "sites.json",
            "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry),
        },
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert "helpers.py:7: ImplicitUpdateWarning" in result.stderr
    return folder / "sites.json"


def test_every_process_notes_its_sites_with_the_class_of_the_optimizer(log: Path) -> None:
    files: dict[str, Any] = {each["path"]: each for each in json.loads(log.read_text())["files"]}
    assert list(files) == ["helpers.py", "train.py"]
    for name, text in (("helpers.py", HELPERS), ("train.py", PROGRAM)):
        assert files[name]["sha256"] == hashlib.sha256(text.encode()).hexdigest()
    assert files["helpers.py"]["sites"] == [
        {
            "line": 7,
            "column": 5,
            "code": "TX101",
            "text": "optimizer.apply_gradients([(tape.gradient(loss, v), v)])",
            "reason": "",
            "optimizer": "keras.src.optimizers.sgd.SGD",
        }
    ]
    assert [site["optimizer"] for site in files["train.py"]["sites"]] == [
        "keras.src.optimizers.adam.Adam"
    ]


def test_it_has_the_keys_of_check_s_report(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["check", "--format", "json", str(log.parent / "helpers.py")])
    report = json.loads(capsys.readouterr().out)
    logged = json.loads(log.read_text())
    assert logged.keys() == report.keys()
    assert logged["summary"].keys() == report["summary"].keys()
    assert logged["files"][0].keys() == {*report["files"][0], "sha256"}
    assert logged["files"][0]["sites"][0].keys() == {
        *report["files"][0]["sites"][0],
        "optimizer",
    }


def test_a_log_is_read_as_it_was_written_and_keeps_no_site_of_another_text(tmp_path: Path) -> None:
    source, log = tmp_path / "train.py", RunLog(tmp_path / "sites.json")
    source.write_text("old\n")
    first, second = Site(1, 1, "TX101", "a.apply()"), Site(2, 1, "TX101", "b.apply()")
    log.add(source, first, "keras.Adam")
    log.write()
    again = RunLog.read(log.path)
    assert again == log
    source.write_text("new\n")
    again.add(source, second, "keras.SGD")
    assert again.files[source].sites == {second: "keras.SGD"}


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"files": [{"path": "a.py"}]}'])
def test_another_file_is_no_log_and_is_left_as_it_is(tmp_path: Path, text: str) -> None:
    path = tmp_path / "sites.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"sites\.json is no log of a run"):
        RunLog.read(path)
    assert path.read_text() == text
