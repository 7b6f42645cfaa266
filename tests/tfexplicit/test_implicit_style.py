"""The implicit style on a rule: it trains the same, and the warning names the true line."""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

import tfexplicit as tx

PROGRAM = """\
import sys, warnings
import tensorflow as tf
import tfexplicit as tx

rule = tx.SGD(0.5)
v = tf.Variable([1.0, 2.0])
u = tf.Variable([1.0])

def step():
    rule.apply_gradients(zip([tf.ones(2)], [v]))  # warns

@tf.function
def traced(x):
    if x > 0:
        for _ in tf.range(2):
            rule.apply_gradients([(x * tf.ones(2), v), (x * tf.ones(1), u)])  # warns
    return x

class Trainer:
    @tf.function
    def minimize(self):
        rule.minimize(  # warns
            lambda: tf.reduce_sum(v), [v]
        )

for _ in range(3):
    step()
    traced(tf.constant(1.0))
    traced(tf.constant([1.0])[0])
Trainer().minimize()
"""
LINES = [number for number, line in enumerate(PROGRAM.splitlines(), 1) if "# warns" in line]


@pytest.fixture(scope="module")
def warned(
    tmp_path_factory: pytest.TempPathFactory, environment: dict[str, str]
) -> tuple[Path, str]:
    """The program, and what it wrote to stderr when run as a script with default filters."""
    path = tmp_path_factory.mktemp("old") / "train.py"
    path.write_text(PROGRAM)
    result = subprocess.run(
        [sys.executable, str(path)],
        capture_output=True,
        text=True,
        env=environment,
        check=True,
    )
    return path, result.stderr


@pytest.mark.parametrize("line", LINES)
def test_each_line_is_named_once(warned: tuple[Path, str], line: int) -> None:
    path, stderr = warned
    assert stderr.count(f"{path}:{line}: ImplicitUpdateWarning:") == 1
    assert stderr.count("ImplicitUpdateWarning:") == len(LINES) == 3


def test_the_warning_says_what_to_write_and_what_rewrites_the_file(
    warned: tuple[Path, str],
) -> None:
    path, stderr = warned
    (line,) = [line for line in stderr.splitlines() if f":{LINES[0]}: " in line]
    assert "`rule_opt_state = tx.setup(rule, [v])` once" in line
    assert "`tx.update(rule_opt_state, [v], [tf.ones(2)])` here" in line
    assert f"`tfexplicit migrate {path}`" in line


def test_the_warning_carries_its_code() -> None:
    rule = tx.SGD(0.5)
    with pytest.warns(tx.ImplicitUpdateWarning) as caught:
        rule.apply_gradients([(tf.constant(1.0), tf.Variable(1.0))])
    message: Any = caught[0].message
    assert isinstance(message, DeprecationWarning)
    assert (message.code, message.since) == ("TX101", "0.1")
    assert message.guide.endswith("TX101.md")
    assert "tx.update(rule_opt_state," in message.replacement
    assert Path(caught[0].filename) == Path(__file__)


def test_an_error_filter_raises_every_time() -> None:
    rule, variable = tx.SGD(0.5), tf.Variable(1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", tx.ImplicitUpdateWarning)
        for _ in range(2):
            with pytest.raises(tx.ImplicitUpdateWarning):
                rule.apply_gradients([(tf.constant(1.0), variable)])
    assert float(variable) == 1.0


@pytest.mark.filterwarnings("ignore::tfexplicit.ImplicitUpdateWarning")
def test_the_implicit_style_trains_as_keras() -> None:
    def trained(optimizer: Any) -> list[np.ndarray]:
        model = keras.Sequential([keras.layers.Input((2,)), keras.layers.Dense(2)])
        model.layers[0].kernel.assign([[1.0, 2.0], [3.0, 4.0]])

        @tf.function
        def step(x: Any) -> None:
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(model(x) ** 2)
            grads = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(grads, model.trainable_variables, strict=True))

        for _ in range(5):
            step(tf.ones([3, 2]))
        return [variable.numpy() for variable in model.trainable_variables]

    ours = trained(tx.Chain(tx.ClipByNorm(1.0), tx.Adam(0.1)))
    for a, b in zip(ours, trained(keras.optimizers.Adam(0.1, clipnorm=1.0)), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.filterwarnings("ignore::tfexplicit.ImplicitUpdateWarning")
def test_new_variables_join_and_share_the_count() -> None:
    rule = tx.Adam(0.1)
    first, second = tf.Variable(0.0), tf.Variable(0.0)
    assert int(rule.apply_gradients([(tf.constant(1.0), first)])) == 1
    assert int(rule.apply_gradients([(tf.constant(1.0), second)])) == 2
    expected = 0.1 * np.sqrt(1 - 0.999**2) / (1 - 0.9**2) * 0.1 / np.sqrt(0.001)
    np.testing.assert_allclose(float(second), -expected, rtol=1e-4)
    assert rule.learning_rate == 0.1


@pytest.mark.filterwarnings("ignore::tfexplicit.ImplicitUpdateWarning")
def test_minimize_takes_functions_and_tensors_with_their_tape() -> None:
    rule, variable = tx.SGD(0.5), tf.Variable(1.0)
    rule.minimize(lambda: variable * 2.0, [variable])
    assert float(variable) == 0.0
    with tf.GradientTape() as tape:
        loss = variable * 1.0
    rule.minimize(loss, [variable], tape=tape)
    assert float(variable) == -0.5
    with pytest.raises(ValueError, match="needs the tape"):
        rule.minimize(loss, [variable])


SEVERAL = """\
import tensorflow as tf
import tfexplicit as tx

rule = tx.SGD(0.5)
v = tf.Variable([1.0])

@tf.function
def first():
    rule.apply_gradients([(tf.ones(1), v)])  # line 9

@tf.function
def second():
    for _ in tf.range(2):
        rule.apply_gradients([(tf.ones(1), v)])  # line 14

@tf.function
def third():
    rule.minimize(lambda: tf.reduce_sum(v), [v])  # line 18

@tf.function(jit_compile=True)
def fourth():
    rule.minimize(lambda: tf.reduce_sum(v), [v])  # line 22

fifth = tf.function(lambda: rule.apply_gradients([(tf.ones(1), v)]))  # line 24

for _ in range(2):
    first(), second(), third(), fourth(), fifth()
"""


def test_several_functions_are_each_named_once(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(SEVERAL)
    root = Path(__file__).parents[2]
    result = subprocess.run(
        [sys.executable, str(path)],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": f"{root}:{root / 'codemod'}", "PATH": "", "TF_CPP_MIN_LOG_LEVEL": "3"},
        check=True,
    )
    named = [line for line in result.stderr.splitlines() if "ImplicitUpdateWarning:" in line]
    lines = sorted(int(line.split(":")[1]) for line in named)
    assert lines == [9, 14, 18, 22, 24]


@pytest.mark.filterwarnings("ignore::tfexplicit.ImplicitUpdateWarning")
def test_what_keras_would_step_otherwise_is_refused() -> None:
    rule, variable = tx.SGD(0.5), tf.Variable(1.0, name="w")
    still = tf.Variable(1.0, trainable=False, name="still")
    one = tf.constant(1.0)
    with pytest.raises(ValueError, match="'still' is not trainable"):
        rule.apply_gradients([(one, still), (one, variable)])
    with pytest.raises(ValueError, match="'w' comes twice"):
        rule.apply_gradients([(one, variable), (one, variable)])
    assert float(variable) == 1.0
