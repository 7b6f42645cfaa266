"""Notebooks in the commands: what is printed, what is written, and how each ends."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tfexplicit_codemod.cli import main

AsNotebook = Callable[..., bytes]
Capture = pytest.CaptureFixture[str]

CELLS = (
    "#md # A notebook",
    "%matplotlib inline\n!pip install 'tensorflow\nimport tensorflow as tf",
    "model = tf.keras.Sequential([tf.keras.layers.Dense(1)])\n"
    "optimizer = tf.keras.optimizers.SGD(0.1)",
    "%%time\n@tf.function\ndef step(x):\n    with tf.GradientTape() as tape:\n"
    "        loss = tf.reduce_mean(model(x) ** 2)\n"
    "    grads = tape.gradient(loss, model.trainable_variables)\n"
    "    optimizer.apply_gradients(zip(grads, model.trainable_variables))",
    "for _ in range(3):\n    %time step(tf.ones((8, 2)));",
)
LEFT = (
    "import tensorflow as tf",
    "def step(optimizer, grads, model):\n"
    "    optimizer.apply_gradients(zip(grads, model.trainable_variables))",
    "%%writefile train.py\nopt.apply_gradients(zip(g, v))",
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, as_notebook: AsNotebook) -> Path:
    (tmp_path / "nb.ipynb").write_bytes(as_notebook(*CELLS))
    (tmp_path / "left.ipynb").write_bytes(as_notebook(*LEFT))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def commit(folder: Path) -> None:
    identity = ("-c", "user.name=n", "-c", "user.email=e@x")
    for command in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "first")):
        subprocess.run(["git", *identity, *command], cwd=folder, check=True)


def test_check_names_cell_and_line(folder: Path, capsys: Capture) -> None:
    assert main(["check", "."]) == 1
    text = capsys.readouterr().out
    assert "nb.ipynb: cell 3, line 7: TX101 optimizer.apply_gradients(zip(" in text
    assert "left.ipynb: cell 1, line 2: TX201 optimizer.apply_gradients(zip(" in text
    assert "left.ipynb: cell 2, line 2: TX230 opt.apply_gradients(zip(g, v)): left: it is " in text
    assert "3 sites: 1 can be rewritten, 2 left" in text


def test_the_json_report_has_the_cell(folder: Path, capsys: Capture) -> None:
    assert main(["check", ".", "--format", "json"]) == 1
    left, changed = json.loads(capsys.readouterr().out)["files"]
    assert (left["outcome"], changed["outcome"]) == ("needs-hand", "changed")
    places = [(site["cell"], site["line"], site["column"]) for site in left["sites"]]
    assert places == [(1, 2, 5), (2, 2, 4)]
    assert [site["cell"] for site in changed["sites"]] == [3]


def test_reports_for_programs_point_into_the_json(folder: Path, capsys: Capture) -> None:
    lines = (folder / "nb.ipynb").read_text().splitlines()
    number = next(i for i, line in enumerate(lines, 1) if "optimizer.apply_gradients(" in line)
    column = lines[number - 1].index('"') + 1
    assert main(["check", "nb.ipynb", "--format", "github"]) == 1
    place, message = (
        f"line={number},col={column},",
        "::cell 3, line 7: optimizer.apply_gradients(zip(",
    )
    out = capsys.readouterr().out
    assert place in out
    assert message in out
    assert main(["check", "nb.ipynb", "--format", "sarif"]) == 1
    (result,) = json.loads(capsys.readouterr().out)["runs"][0]["results"]
    region = result["locations"][0]["physicalLocation"]["region"]
    assert region == {"startLine": number, "startColumn": column}
    assert result["message"]["text"].startswith("cell 3, line 7: ")
    assert main(["check", "nb.ipynb", "--format", "html"]) == 1
    assert "cell 3, line 7" in capsys.readouterr().out


def test_git_applies_the_diff_and_gets_what_migrate_writes(
    folder: Path, capsysbinary: Capture
) -> None:
    commit(folder)
    assert main(["diff", "."]) == 1
    diff = capsysbinary.readouterr().out
    assert main(["migrate", "."]) == 0
    migrated = {path: path.read_bytes() for path in folder.glob("*.ipynb")}
    subprocess.run(["git", "checkout", "-q", "."], cwd=folder, check=True)
    subprocess.run(["git", "apply"], cwd=folder, check=True, input=diff)
    assert {path: path.read_bytes() for path in folder.glob("*.ipynb")} == migrated


def test_a_second_run_writes_nothing(folder: Path, capsys: Capture) -> None:
    assert main(["migrate", "."]) == 0
    written = {path: (path.read_bytes(), path.stat().st_ino) for path in folder.glob("*.ipynb")}
    capsys.readouterr()
    assert main(["migrate", "."]) == 0
    assert "2 sites: 0 rewritten, 2 left" in capsys.readouterr().out
    assert {
        path: (path.read_bytes(), path.stat().st_ino) for path in folder.glob("*.ipynb")
    } == written


def test_without_todo_only_rewrites_are_written(folder: Path) -> None:
    before = (folder / "left.ipynb").read_bytes()
    assert main(["migrate", "--no-todo", "."]) == 0
    assert (folder / "left.ipynb").read_bytes() == before
    assert b"tx.update(opt_state, model, grads)" in (folder / "nb.ipynb").read_bytes()


def test_a_notebook_with_uncommitted_outputs_is_refused(folder: Path, capsys: Capture) -> None:
    commit(folder)
    edited = (folder / "nb.ipynb").read_bytes().replace(b"<b>", b"<i>")
    (folder / "nb.ipynb").write_bytes(edited)
    assert main(["migrate", "."]) == 4
    assert "nb.ipynb" in capsys.readouterr().err
    assert (folder / "nb.ipynb").read_bytes() == edited
    assert main(["migrate", "--allow-dirty", "."]) == 0
    assert b"<i>" in (folder / "nb.ipynb").read_bytes()


def test_a_file_that_is_no_notebook_fails_beside_one_that_is(folder: Path, capsys: Capture) -> None:
    (folder / "conflict.ipynb").write_text('{"cells": [\n<<<<<<< HEAD\napply_gradients')
    assert main(["migrate", "."]) == 3
    out = capsys.readouterr().out
    assert "conflict.ipynb:2:1: failed: not JSON: Expecting value" in out
    assert "3 files: 1 changed, 1 needs-hand, 1 failed" in out


def test_embeddings_in_a_module_that_a_notebook_imports(
    folder: Path, as_notebook: AsNotebook
) -> None:
    """Sparse gradients are possible, so the optimizer stays a Keras object."""
    cells = [cell.replace("SGD", "Adam") for cell in CELLS]
    cells[1] += "\n%load_ext autoreload\nimport layers"
    (folder / "nb.ipynb").write_bytes(as_notebook(*cells))
    (folder / "layers.py").write_text("import keras\ne = keras.layers.Embedding(3, 4)\n")
    assert main(["migrate", "."]) == 0
    after = (folder / "nb.ipynb").read_text()
    assert "optimizer = tf.keras.optimizers.Adam(0.1)" in after
    assert "tx.update(opt_state, model, grads)" in after


@pytest.mark.parametrize(
    ("imports", "call"),
    [
        ("%cd x\nimport utils", "utils.step"),
        ("import utils\nprint 'x'", "utils.step"),
        ("%run -i ./utils.py --fast", "step"),
    ],
)
def test_a_function_that_a_notebook_calls_keeps_its_parameters(
    folder: Path, as_notebook: AsNotebook, imports: str, call: str
) -> None:
    """The notebook passes an optimizer, so the function must go on taking one."""
    step = CELLS[3].removeprefix("%%time\n").replace("step(x)", "step(model, optimizer, x)")
    module = f"""\
import tensorflow as tf

{step}

def train(x):
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    optimizer = tf.keras.optimizers.SGD(0.1)
    step(model, optimizer, x)
"""
    utils, notebook = folder / "utils.py", folder / "nb.ipynb"
    cells = (CELLS[1], imports, CELLS[2], f"{call}(model, optimizer, tf.ones((8, 2)))")
    utils.write_text(module)
    notebook.write_bytes(as_notebook(*cells))
    assert main(["migrate", "--no-todo", "utils.py"]) == 0
    assert main(["migrate", "--no-todo", "."]) == 0
    assert utils.read_text() == module
    assert notebook.read_bytes() == as_notebook(*cells)
    notebook.unlink()
    assert main(["migrate", "--no-todo", "."]) == 0
    assert "def step(model, opt_state, x):" in utils.read_text()


def test_verify_runs_a_notebook_before_and_after(folder: Path, capfd: Capture) -> None:
    code = main(["verify", "nb.ipynb"])
    out, err = capfd.readouterr()
    assert code == 0, err
    assert "Training is unchanged: 3 updates of 2 leaves are equal bit for bit." in out
