"""A function and its callers in other files change together, or none of them does."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from tfexplicit_codemod.cli import main
from tfexplicit_codemod.migration import migrate_paths
from tfexplicit_codemod.outcome import FileResult, Outcome
from tfexplicit_codemod.settings import Settings
from tfexplicit_codemod.write import write_changed

STEP = """\
import tensorflow as tf


@tf.function
def train_step(model, optimizer, x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss
"""
LOOP = """\
from steps import train_step


def fit(net, adam, x, y, rounds):
    return [float(train_step(net, x=x, y=y, optimizer=adam)) for _ in range(rounds)]
"""
MAIN = """\
import tensorflow as tf
import loop

tf.keras.utils.set_random_seed(1)
x = tf.random.normal((32, 4))
y = tf.reduce_sum(x, axis=1, keepdims=True)
model = tf.keras.Sequential([tf.keras.layers.Dense(8, "tanh"), tf.keras.layers.Dense(1)])
opt = tf.keras.optimizers.Adam(0.01)
print(loop.fit(model, opt, x, y, 5))
"""
PROGRAM = {"steps.py": STEP, "loop.py": LOOP, "main.py": MAIN}


def written(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def migrated(folder: Path, files: dict[str, str]) -> dict[str, FileResult]:
    results = migrate_paths([written(folder, files)], Settings())
    return {result.path.relative_to(folder).as_posix(): result for result in results}


def text_of(result: FileResult) -> str:
    assert result.after is not None
    return result.after.decode()


def test_it_trains_as_before(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    code = main(["verify", str(written(tmp_path, PROGRAM) / "main.py")])
    assert code == 0, capfd.readouterr().out


def test_function_callers_and_their_callers_follow(tmp_path: Path) -> None:
    results = migrated(tmp_path, PROGRAM)
    assert {result.outcome for result in results.values()} == {Outcome.CHANGED}
    assert [site.code for site in results["steps.py"].sites] == ["TX109"]
    assert "def train_step(model, opt_state, x, y):" in text_of(results["steps.py"])
    assert "def fit(net, adam_opt_state, x, y, rounds):" in text_of(results["loop.py"])
    assert "train_step(net, x=x, y=y, opt_state=adam_opt_state)" in text_of(results["loop.py"])
    assert "tfexplicit" not in text_of(results["loop.py"])
    assert "opt_state = tx.setup(opt, model)\n" in text_of(results["main.py"])
    assert "loop.fit(model, opt_state, x, y, 5)" in text_of(results["main.py"])


def test_a_function_that_does_more_with_the_optimizer(tmp_path: Path) -> None:
    more = STEP.replace("    return loss\n", "    return loss + 0.0 * optimizer.learning_rate\n")
    results = migrated(tmp_path, PROGRAM | {"steps.py": more})
    assert {result.outcome for result in results.values()} == {Outcome.CHANGED}
    loop, main = text_of(results["loop.py"]), text_of(results["main.py"])
    assert "def train_step(model, optimizer, opt_state, x, y):" in text_of(results["steps.py"])
    assert "def fit(net, adam, adam_opt_state, x, y, rounds):" in loop
    assert "train_step(net, x=x, y=y, optimizer=adam, opt_state=adam_opt_state)" in loop
    assert "opt = tf.keras.optimizers.Adam(0.01)\nopt_state = tx.setup(opt, model)\n" in main
    assert "loop.fit(model, opt, opt_state, x, y, 5)" in main


def test_bug_49_one_run_settles_files_that_hang_on_each_other(tmp_path: Path) -> None:
    written(tmp_path, PROGRAM)
    write_changed(migrate_paths([tmp_path], Settings()))
    again = migrate_paths([tmp_path], Settings())
    assert {result.outcome for result in again} == {Outcome.UNCHANGED}


PRIVATE = """\
import tensorflow as tf


class Explainer:
    def fit(self):
        self.opt = tf.keras.optimizers.Adam()
        w = tf.Variable(1.0)
        self._step(w)

    def _step(self, w):
        self.opt.apply_gradients([(grad, w)])
"""


@pytest.mark.parametrize(("used", "code"), [("fit", "TX106"), ("_step", "TX202")])
def test_a_private_method_that_another_file_names(tmp_path: Path, used: str, code: str) -> None:
    other = f"from explain import Explainer\nprint(Explainer().{used})\n"
    results = migrated(tmp_path, {"explain.py": PRIVATE, "other.py": other})
    assert [site.code for site in results["explain.py"].sites] == [code]


OTHER_USE = "`train_step` is used in ways that are not followed (in main.py)"
BREAKING = {
    "passed_on": (MAIN + "from steps import train_step\nrun(train_step)\n", OTHER_USE),
    "out_of_sight": (
        MAIN.replace("tf.keras.optimizers.Adam(0.01)", "make()"),
        "`adam` of `fit` is given `opt`, which cannot be proven to be a Keras optimizer "
        "(in main.py)",
    ),
    "made_in_the_call": (
        MAIN.replace("model, opt,", "model, tf.keras.optimizers.Adam(0.01),"),
        "`adam` of `fit` is given `tf.keras.optimizers.Adam(0.01)`, which has no name: "
        "name it first, `adam = ...` (in main.py)",
    ),
    "other_use": (MAIN + "import steps\nf = steps.train_step\n", OTHER_USE),
    "by_name": (MAIN + "import steps\nf = getattr(steps, 'train_step')\n", OTHER_USE),
    "star": (MAIN + "from steps import *\ntrain_step(model, opt, x, y)\n", OTHER_USE),
    "second_optimizer": (
        MAIN
        + "from steps import train_step\nsgd = tf.keras.optimizers.SGD()\n"
        + "train_step(model, sgd, x, y)\n",
        "`optimizer` of `train_step` is another one at each call of a traced function",
    ),
    "in_a_branch": (
        MAIN.replace("opt = ", "if tf:\n    opt = "),
        "the update can be reached without the statement that binds `opt` (in main.py)",
    ),
    "arguments": (
        MAIN.replace("loop.fit(model, opt, x, y, 5)", "loop.fit(*everything)"),
        "`adam` of `fit` is given in a call that cannot be followed (in main.py)",
    ),
    "not_python": (
        MAIN + "def (:\n",
        "`adam` of `fit` comes from callers out of sight (in loop.py)",
    ),
}


@pytest.mark.parametrize("name", BREAKING)
def test_one_caller_that_cannot_follow_keeps_all_as_they_are(tmp_path: Path, name: str) -> None:
    main, reason = BREAKING[name]
    results = migrated(tmp_path, PROGRAM | {"main.py": main})
    (site,) = results["steps.py"].sites
    assert (site.code, site.reason) == ("TX201", reason)
    assert "def train_step(model, optimizer, x, y):" in text_of(results["steps.py"])
    assert results["loop.py"].outcome is Outcome.UNCHANGED
    assert results["main.py"].after is None


def test_a_notebook_that_calls_the_function(tmp_path: Path) -> None:
    code = {"cell_type": "code", "source": LOOP, "metadata": {}, "outputs": []}
    notebook = {"cells": [code], "metadata": {}, "nbformat": 4, "nbformat_minor": 4}
    results = migrated(tmp_path, PROGRAM | {"a.ipynb": json.dumps(notebook)})
    (site,) = results["steps.py"].sites
    why = "is also given by a.ipynb, which is not followed"
    assert (site.code, site.reason) == ("TX201", f"`optimizer` of `train_step` {why}")


def test_a_caller_that_is_not_in_the_run(tmp_path: Path) -> None:
    written(tmp_path, PROGRAM)
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    paths = [tmp_path / "steps.py", tmp_path / "loop.py"]
    steps, loop = sorted(migrate_paths(paths, Settings()), key=lambda r: r.path, reverse=True)
    assert [site.code for site in steps.sites] == ["TX201"]
    assert loop.outcome is Outcome.UNCHANGED
    everything = migrate_paths([tmp_path], Settings())
    assert {result.outcome for result in everything} == {Outcome.CHANGED}


@pytest.mark.parametrize(
    ("exported", "called", "code"),
    [
        ("*", "train_step", "TX201"),
        ("train_step as step", "step", "TX201"),
        ("train_step", "train_step", "TX109"),
    ],
)
def test_callers_through_a_package(tmp_path: Path, exported: str, called: str, code: str) -> None:
    caller = MAIN.replace("import loop", f"from pkg import {called}")
    files = {
        "pkg/__init__.py": f"from .steps import {exported}\n",
        "pkg/steps.py": STEP,
        "main.py": caller.replace("loop.fit(model, opt, x, y, 5)", f"{called}(model, opt, x, y)"),
    }
    results = migrated(tmp_path, files)
    assert [site.code for site in results["pkg/steps.py"].sites] == [code]
    assert results["main.py"].is_to_be_written == (code == "TX109")


@pytest.mark.parametrize("name", PROGRAM)
def test_one_file_that_cannot_be_written_keeps_all_as_they_were(tmp_path: Path, name: str) -> None:
    results = migrate_paths([written(tmp_path, PROGRAM)], Settings())
    saved_since = PROGRAM | {name: PROGRAM[name] + "# saved in an editor\n"}
    written(tmp_path, saved_since)
    outcomes = {result.outcome for result in write_changed(results)}
    assert outcomes == {Outcome.FAILED}
    assert {path.name: path.read_text() for path in tmp_path.glob("*.py")} == saved_since
