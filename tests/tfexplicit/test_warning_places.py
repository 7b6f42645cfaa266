"""Warnings name the true file and line, whoever calls and whatever the optimizer is."""

from __future__ import annotations

import json
import re
import runpy
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

import tfexplicit as tx

# What each kind of optimizer needs, and how it is made.
OPTIMIZERS = {
    "keras": ("keras", "keras.optimizers.Adam()"),
    "keras loss scale": ("keras", "keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD())"),
    "keras subclass": ("keras", "Own()"),
    "keras subclass with its own apply": ("keras", "OwnApply()"),
    "tf_keras": ("tf_keras", "keras.optimizers.Adam()"),
    "tf_keras loss scale": (
        "tf_keras",
        "keras.mixed_precision.LossScaleOptimizer(keras.optimizers.SGD())",
    ),
    "tf_keras subclass": ("tf_keras", "Own()"),
    "legacy": ("tf_keras", "keras.optimizers.legacy.Adam()"),
    "legacy loss scale": (
        "tf_keras",
        "keras.mixed_precision.LossScaleOptimizer(keras.optimizers.legacy.SGD())",
    ),
    "rule": ("keras", "tx.SGD(0.1)"),
}
HEAD = """\
import threading
import tensorflow as tf
import KERAS as keras
import tfexplicit as tx

class Own(keras.optimizers.SGD):
    def apply_gradients(self, grads_and_vars, *args, **kwargs):
        pairs = [(grad * 1.0, variable) for grad, variable in grads_and_vars]
        return super().apply_gradients(pairs, *args, **kwargs)

class OwnApply(keras.optimizers.SGD):
    def apply(self, grads, trainable_variables=None):
        super().apply(grads, trainable_variables)

strategy = tf.distribute.STRATEGY
with strategy.scope():
    v = tf.Variable([1.0, 2.0])
    optimizer = OPTIMIZER
    if hasattr(optimizer, "build"):
        optimizer.build([v])
"""
CALLERS = {
    "module": "optimizer.apply_gradients([(tf.ones(2), v)])  # warns\n",
    "function": """\
def step():
    grads = [tf.ones(2)]
    optimizer.apply_gradients(
        zip(grads, [v])
    )  # warns at 3
for _ in range(3):
    step()
""",
    "tf.function": """\
@tf.function
def step(x):
    if x > 0:
        optimizer.apply_gradients([(x * tf.ones(2), v)])  # warns
step(tf.constant(1.0))
step(tf.constant(2.0))
""",
    "tf.function in a loop": """\
@tf.function
def step(n):
    for _ in tf.range(n):
        step_once(tf.ones(2))
def step_once(grad):
    optimizer.apply_gradients([(grad, v)])  # warns
step(tf.constant(2))
""",
    "tf.function without AutoGraph": """\
@tf.function(autograph=False)
def step():
    optimizer.apply_gradients([(tf.ones(2), v)])  # warns
step()
""",
    "strategy.run": """\
def step():
    optimizer.apply_gradients([(tf.ones(2), v)])  # warns
strategy.run(tf.function(step))
""",
    "strategy.run in tf.function": """\
def step():
    optimizer.apply_gradients([(tf.ones(2), v)])  # warns
@tf.function
def distributed():
    strategy.run(step)
distributed()
""",
    "thread": """\
def step():
    optimizer.apply_gradients([(tf.ones(2), v)])  # warns
thread = threading.Thread(target=step)
thread.start()
thread.join()
""",
    "two lines": """\
optimizer.apply_gradients([(tf.ones(2), v)])  # warns
optimizer.apply_gradients([(tf.ones(2), v)])  # warns
""",
    "fit": """\
class Model(keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = keras.layers.Dense(1)
    def call(self, x):
        return self.dense(x)
    def train_STEP(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((self(x) - y) ** 2)
        step_grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(step_grads, self.trainable_variables))  # warns
        return {"loss": loss}
model = Model()
model.compile(optimizer=OPTIMIZER)
model.fit(tf.ones((4, 2)), tf.ones((4, 1)), verbose=0, epochs=2)
""",
    "built-in fit": """\
model = keras.Sequential([keras.layers.Dense(1)])
model.compile(optimizer=OPTIMIZER, loss="mse")
model.fit(tf.ones((4, 2)), tf.ones((4, 1)), verbose=0)
""",
}
MINIMIZE = "optimizer.minimize(lambda: tf.reduce_sum(v), [v])  # warns\n"
APPLY = "optimizer.apply([tf.ones(2)], [v])  # warns\n"
METHOD_IN_A_THREAD = {
    "thread": """\
thread = threading.Thread(target=optimizer.apply_gradients, args=([(tf.ones(2), v)],))
thread.start()
thread.join()
""",
    "pool": """\
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(1) as pool:
    pool.submit(optimizer.apply_gradients, [(tf.ones(2), v)]).result()
""",
}


def program_of(optimizer: str, caller: str, body: str) -> str:
    package, made = OPTIMIZERS[optimizer]
    # AutoGraph takes functions for the same whose code is the same, in whatever file.
    body = body.replace("step", f"{re.sub(r'[^a-zA-Z]', '_', optimizer + caller)}_step")
    text = (
        (HEAD + body).replace("KERAS", package).replace("STEP", "step").replace("OPTIMIZER", made)
    )
    strategy = 'MirroredStrategy(["CPU:0"])' if "strategy.run" in body else "get_strategy()"
    text = text.replace("STRATEGY", strategy)
    if package == "tf_keras":
        # Of Keras 3 only.
        text = text.replace("    def apply(self, grads", "    def unused(self, grads")
    return text


def expected_lines(program: str) -> list[int]:
    lines = []
    for number, line in enumerate(program.splitlines(), 1):
        if "# warns at 3" in line:
            lines.append(number - 2)
        elif "# warns" in line:
            lines.append(number)
    return lines


def places_of(path: Path) -> list[tuple[str, int]]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        with tx.warn_implicit("once"):
            runpy.run_path(str(path))
    return [
        (each.filename, each.lineno)
        for each in caught
        if issubclass(each.category, tx.ImplicitUpdateWarning)
    ]


def cases() -> list[tuple[str, str]]:
    pairs = [(optimizer, caller) for optimizer in OPTIMIZERS for caller in CALLERS]
    # A rule makes its implicit state where replicas meet, so not in a replica's first step.
    not_for_a_rule = ("fit", "built-in fit", "strategy.run", "strategy.run in tf.function")
    return [pair for pair in pairs if not (pair[0] == "rule" and pair[1] in not_for_a_rule)]


@pytest.mark.parametrize(("optimizer", "caller"), cases())
def test_the_line_that_updates_is_named(optimizer: str, caller: str, tmp_path: Path) -> None:
    program = program_of(optimizer, caller, CALLERS[caller])
    path = tmp_path / "train.py"
    path.write_text(program)
    assert places_of(path) == [(str(path), line) for line in expected_lines(program)]


@pytest.mark.parametrize("optimizer", ["tf_keras", "tf_keras loss scale", "legacy", "rule"])
def test_minimize_is_named(optimizer: str, tmp_path: Path) -> None:
    program = program_of(optimizer, "minimize", MINIMIZE)
    path = tmp_path / "train.py"
    path.write_text(program)
    assert places_of(path) == [(str(path), line) for line in expected_lines(program)]


@pytest.mark.parametrize("optimizer", [name for name in OPTIMIZERS if name.startswith("keras")])
def test_apply_is_named(optimizer: str, tmp_path: Path) -> None:
    program = program_of(optimizer, "apply", APPLY)
    path = tmp_path / "train.py"
    path.write_text(program)
    assert places_of(path) == [(str(path), line) for line in expected_lines(program)]


@pytest.mark.parametrize("runner", ["thread", "pool"])
def test_a_method_that_a_thread_runs_has_no_line(runner: str, tmp_path: Path) -> None:
    """Not one of Python's own files, and no command that would rewrite it."""
    path = tmp_path / "train.py"
    path.write_text(program_of("keras", runner, METHOD_IN_A_THREAD[runner]))
    with pytest.warns(tx.ImplicitUpdateWarning) as caught, tx.warn_implicit("all"):
        runpy.run_path(str(path))
    [said] = caught
    assert said.filename == "<unknown>"
    assert "tfexplicit migrate" not in str(said.message)


CELLS = """\
import json, sys, warnings
from pathlib import Path
from IPython.core.interactiveshell import InteractiveShell
import tfexplicit as tx

shell = InteractiveShell.instance()
for cell in json.loads(Path("cells.json").read_text()):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        with tx.warn_implicit("once"):
            shell.run_cell(cell, store_history=True).raise_error()
    said = [each for each in caught if issubclass(each.category, tx.ImplicitUpdateWarning)]
    print("said", json.dumps([str(each.message).partition(":")[0] for each in said]))
"""


@pytest.mark.slow
def test_the_line_of_a_cell_is_named(tmp_path: Path, environment: dict[str, str]) -> None:
    """The whole table, each program as a cell of one notebook."""
    pytest.importorskip("IPython")
    programs = [program_of(*case, CALLERS[case[1]]) for case in cases()]
    (tmp_path / "cells.json").write_text(json.dumps(programs))
    (tmp_path / "cells.py").write_text(CELLS)
    ran = subprocess.run(
        [sys.executable, "cells.py"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=environment | {"HOME": str(tmp_path)},
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    said = [json.loads(line[5:]) for line in ran.stdout.splitlines() if line.startswith("said ")]
    assert said == [
        [f"In [{number}], line {line}" for line in expected_lines(program)]
        for number, program in enumerate(programs, 1)
    ]
