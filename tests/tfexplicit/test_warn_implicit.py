"""Modes of `warn_implicit`, what a warning says, and what stays as it was."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import keras
import pytest
import tensorflow as tf
import tf_keras

import tfexplicit as tx

METHODS = [
    (keras.optimizers.Optimizer, "apply"),
    (keras.optimizers.Optimizer, "apply_gradients"),
    (keras.optimizers.LossScaleOptimizer, "apply"),
    (tf_keras.optimizers.Optimizer, "minimize"),
    (tf_keras.optimizers.Optimizer, "apply_gradients"),
    (tf_keras.optimizers.legacy.Optimizer, "apply_gradients"),
]


def methods() -> list[Any]:
    return [getattr(cls, name) for cls, name in METHODS]


@pytest.fixture
def messages() -> Iterator[list[Any]]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield caught


def test_off_leaves_keras_as_it_was() -> None:
    before = methods()
    hooks = list(sys.meta_path)
    with tx.warn_implicit():
        assert all(new is not old for new, old in zip(methods(), before, strict=True))
        with tx.warn_implicit("off"):
            assert methods() == before
        assert methods() != before
    assert methods() == before
    assert sys.meta_path == hooks
    assert "__init_subclass__" not in vars(keras.optimizers.Optimizer.__mro__[1])


def test_a_class_made_while_it_warned_is_as_written_afterwards() -> None:
    with tx.warn_implicit():

        class Own(keras.optimizers.SGD):  # type: ignore[misc]
            def apply(self, grads: Any, trainable_variables: Any = None) -> Any:
                return super().apply(grads, trainable_variables)

        assert hasattr(Own.apply, "__wrapped__")
    assert not hasattr(Own.apply, "__wrapped__")


def test_once_and_all(messages: list[Any]) -> None:
    optimizer, variable = keras.optimizers.SGD(0.5), tf.Variable(1.0)

    def step() -> None:
        optimizer.apply_gradients([(tf.constant(1.0), variable)])

    with tx.warn_implicit("once"):
        for _ in range(3):
            step()
    assert len(messages) == 1
    with tx.warn_implicit("all"):
        for _ in range(3):
            step()
    assert len(messages) == 4
    with tx.warn_implicit("off"):
        tx.SGD(0.5).apply_gradients([(tf.constant(1.0), variable)])
    assert len(messages) == 4


def test_error_raises_at_the_line_each_time_eager_and_traced() -> None:
    optimizer, variable = keras.optimizers.SGD(0.5), tf.Variable(1.0)

    def step() -> None:
        optimizer.apply_gradients([(tf.constant(1.0), variable)])

    line = step.__code__.co_firstlineno + 1
    with tx.warn_implicit("error"):
        for function in (step, step, tf.function(step), tf.function(step, autograph=False)):
            with pytest.raises(tx.ImplicitUpdateWarning, match=f"{__file__}:{line}: ") as caught:
                function()
            assert caught.value.code == "TX101"
    assert float(variable) == 1.0


def test_an_unknown_mode_is_an_error(environment: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="one of once, all, error, off, got 'twice'"):
        tx.warn_implicit("twice")  # type: ignore[arg-type]
    command = [sys.executable, "-c", "import tfexplicit"]
    given = environment | {"TFEXPLICIT_WARN": "loud"}
    result = subprocess.run(command, capture_output=True, text=True, env=given, check=False)
    assert result.returncode == 1
    assert "TFEXPLICIT_WARN: the mode must be one of once, all, error, off" in result.stderr


def test_the_user_s_own_names_are_in_the_text(messages: list[Any]) -> None:
    class Trainer:
        def __init__(self) -> None:
            self.discriminator = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
            self.generator = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
            self.d_optimizer = keras.optimizers.SGD(0.5)

        def step(self) -> None:
            grads = [tf.ones((2, 1)), tf.ones(1)]
            self.d_optimizer.apply_gradients(
                zip(grads, self.discriminator.trainable_variables, strict=True)
            )
            both = self.generator.trainable_variables
            self.d_optimizer.build(self.discriminator.trainable_variables + both)

        def step_both(self) -> None:
            self.d_optimizer.apply(
                [tf.ones((2, 1)), tf.ones(1)] * 2,
                self.discriminator.trainable_variables + self.generator.trainable_variables,
            )

    trainer = Trainer()
    with tx.warn_implicit():
        trainer.step()
        trainer.d_optimizer = keras.optimizers.SGD(0.5)
        trainer.step_both()
    first, second = (each.message for each in messages)
    assert first.code == "TX102"
    assert "self.d_opt_state = tx.setup(self.d_optimizer, self.discriminator)" in first.replacement
    assert "tx.update(self.d_opt_state, self.discriminator, grads)" in first.replacement
    assert "(self.discriminator, self.generator)" in second.replacement
    assert f"`tfexplicit migrate {__file__}`" in str(first)


def test_explicit_updates_of_keras_optimizers_are_silent(messages: list[Any]) -> None:
    class Adopted(keras.optimizers.SGD):  # type: ignore[misc]
        pass

    with tx.warn_implicit("error"):
        for optimizer in (keras.optimizers.Adam(), Adopted(0.1), tf_keras.optimizers.SGD(0.1)):
            variable = tf.Variable(1.0)
            opt_state = tx.setup(optimizer, [variable])
            for _ in range(2):
                tx.update(opt_state, [variable], [tf.constant(1.0)])
    assert not messages


LIBRARY = """\
def step(optimizer, v):
    optimizer.apply_gradients([(v * 0.0, v)])
    optimizer.apply_gradients([(v * 0.0, v)])
"""
SCRIPT = """\
import sys
import keras
import tensorflow as tf
import helpers

helpers.step(keras.optimizers.SGD(0.5), tf.Variable(1.0))
print("arguments", sys.argv[1:], __name__)
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "helpers.py").write_text(LIBRARY)
    (tmp_path / "train.py").write_text(SCRIPT)
    return tmp_path


def run(project: Path, environment: dict[str, str], *command: str, **variables: str) -> Any:
    return subprocess.run(
        [sys.executable, *command],
        capture_output=True,
        text=True,
        cwd=project,
        env=environment | variables,
        check=False,
    )


@pytest.mark.parametrize("program", [["train.py"], ["-m", "train"]], ids=["script", "module"])
def test_a_program_runs_with_warnings_untouched(
    program: list[str], project: Path, environment: dict[str, str]
) -> None:
    result = run(project, environment, "-m", "tfexplicit.warn", *program, "--epochs", "1")
    assert result.returncode == 0, result.stderr
    assert "arguments ['--epochs', '1'] __main__" in result.stdout
    for line in (2, 3):
        assert f"helpers.py:{line}: ImplicitUpdateWarning: `optimizer.apply_gr" in result.stderr


def test_error_mode_ends_the_program_at_the_line(
    project: Path, environment: dict[str, str]
) -> None:
    command = ["-m", "tfexplicit.warn", "--mode=error", "train.py"]
    result = run(project, environment, *command)
    assert result.returncode == 1
    assert "helpers.py:2: `optimizer.apply_gradients`" in result.stderr
    assert "arguments" not in result.stdout


def test_hidden_warnings_are_counted_at_exit(project: Path, environment: dict[str, str]) -> None:
    """Rules warn by themselves, and Python hides deprecation warnings of a library."""
    program = SCRIPT.replace("keras.optimizers.SGD", "tx.SGD").replace("keras", "tfexplicit as tx")
    (project / "train.py").write_text(program)
    result = run(project, environment, "train.py")
    assert "ImplicitUpdateWarning" not in result.stderr
    summary = result.stderr.strip().splitlines()[-1]
    assert summary.startswith("tfexplicit: 2 lines in 1 file update weights implicitly")
    assert "python -m tfexplicit.warn train.py" in summary
    assert f"tfexplicit migrate {project / 'helpers.py'}" in summary
    shown = run(project, environment, "train.py", TFEXPLICIT_WARN="once")
    assert shown.stderr.count("ImplicitUpdateWarning:") == 2
    assert "tfexplicit: 2 lines" not in shown.stderr


CELLS = """\
from IPython.core.interactiveshell import InteractiveShell

shell = InteractiveShell.instance()
shell.run_cell("import tensorflow as tf, keras, tfexplicit as tx\\ntx.warn_implicit()", True)
shell.run_cell("v = tf.Variable(1.0)\\noptimizer = keras.optimizers.SGD(0.5)", True)
shell.run_cell(
    "@tf.function\\ndef step():\\n    optimizer.apply_gradients([(v * 0.0, v)])\\n"
    "step()\\noptimizer.apply_gradients([(v * 0.0, v)])",
    True,
)
"""


def test_a_cell_of_a_notebook_is_named(tmp_path: Path, environment: dict[str, str]) -> None:
    pytest.importorskip("IPython")
    (tmp_path / "cells.py").write_text(CELLS)
    given = environment | {"HOME": os.fspath(tmp_path)}
    result = run(tmp_path, given, "cells.py")
    assert "In [3], line 3: `optimizer.apply_gradients`" in result.stderr, result.stdout
    assert "In [3], line 5: `optimizer.apply_gradients`" in result.stderr
    assert "tx.setup(optimizer, [v])" in result.stderr
    assert "migrate NOTEBOOK.ipynb" in result.stderr
