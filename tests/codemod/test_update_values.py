"""TX116: the value of an update, followed to all that read it, or left."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import numpy as np
import pytest
from tfexplicit_codemod.engine import migrate_source
from tfexplicit_codemod.migration import migrate_paths
from tfexplicit_codemod.settings import Settings

HEAD = """\
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1)])
opt = {made}


def gradients():
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(model(tf.ones((2, 3))))
    return tape.gradient(loss, model.trainable_variables)


"""
PAIRS = "zip(gradients(), model.trainable_variables)"
CALL = f"opt.apply_gradients({PAIRS})"
SGD = "tf.keras.optimizers.SGD(0.1)"
LEGACY = "tf.keras.optimizers.legacy.SGD(0.1)"
STEP = "tx.update(opt_state, model, gradients())"


def migrated(use: str, made: str = SGD) -> str:
    """What becomes of the use, after the functions above it."""
    result = migrate_source((HEAD.format(made=made) + use).encode(), Path("a.py"))
    assert result.after is not None
    return result.after.decode().split("\n\n\n")[-1]


@pytest.mark.parametrize(
    ("use", "expected"),
    [
        (f"step = {CALL}\nprint(int(step))", f"{STEP}\nstep = opt_state.step\nprint(int(step))"),
        (f"step = ({CALL})  # one\n", f"{STEP}  # one\nstep = opt_state.step\n"),
        (f"a = (\n1); n = {CALL}", f"a = (\n1); {STEP}\nn = opt_state.step"),
        (f"_ = {CALL}\n_ = {CALL}", f"{STEP}\n_ = opt_state.step\n{STEP}\n_ = opt_state.step"),
        (
            f"for i in range(2):\n    step = {CALL}\n    if step % 2 == 0: print(step.numpy())\n",
            f"for i in range(2):\n    {STEP}\n    step = opt_state.step\n"
            "    if step % 2 == 0: print(step.numpy())\n",
        ),
        (
            f"def step():\n    return {CALL}\n\nn = step()\ntf.print('at', n)\nstep()",
            f"def step():\n    {STEP}\n    return opt_state.step\n\nn = step()\n"
            "tf.print('at', n)\nstep()",
        ),
        (
            f"def step():\n    n = {CALL}\n    return 1\n\nx = [step()]",
            f"def step():\n    {STEP}\n    n = opt_state.step\n    return 1\n\nx = [step()]",
        ),
        (
            f"class A:\n    def _step(self):\n        return {CALL}\n"
            "    def fit(self):\n        self._step()",
            f"class A:\n    def _step(self):\n        {STEP}\n        return opt_state.step\n"
            "    def fit(self):\n        self._step()",
        ),
    ],
)
def test_the_count_takes_the_place_of_the_value(use: str, expected: str) -> None:
    assert migrated(use) == expected


# `minimize` of `tf_keras` and `apply` of Keras 3 give None, which no reader may see.
@pytest.mark.parametrize(
    ("use", "made", "expected"),
    [
        (
            "op = opt.minimize(lambda: tf.reduce_sum(model(x)), model.trainable_variables)",
            SGD,
            "tx.minimize(lambda: tf.reduce_sum(model(x)), opt_state, model)\nop = opt_state.step",
        ),
        (
            "_ = opt.apply(gradients(), model.trainable_variables)",
            SGD,
            f"{STEP}\n_ = opt_state.step",
        ),
        (f"_ = {CALL}", LEGACY, f"{STEP}\n_ = opt_state.step"),
    ],
)
def test_a_value_that_nobody_reads_may_be_anything(use: str, made: str, expected: str) -> None:
    assert migrated(use, made) == expected


@pytest.mark.parametrize(
    ("use", "made"),
    [
        (f"step = {CALL}\nprint(step)", SGD),
        (f"step = {CALL}\nprint(step.value)", SGD),
        (f"step = {CALL}\nstep += 1", SGD),
        (f"step = 0\nstep = {CALL}\nprint(int(step))", SGD),
        (f"self.step = {CALL}", SGD),
        (f"class A:\n    step = {CALL}", SGD),
        (f"step = {CALL}; a = 1", SGD),
        (f"if a: step = {CALL}", SGD),
        (f"def step():\n    return {CALL}\n\nx = [step()]", SGD),
        (f"def step():\n    return {CALL}\n\nrun(step)", SGD),
        (f"def step():\n    return {CALL}", SGD),
        (f"@jit\ndef step():\n    return {CALL}\n\nstep()", SGD),
        (f"def step():\n    return {CALL}\n    return step()", SGD),
        (f"n = opt.apply({PAIRS[4:]}\nint(n)", SGD),
        (f"n = {CALL}\nint(n)", LEGACY),
        (f"n = {CALL}\nint(n)", "tf.keras.mixed_precision.LossScaleOptimizer(inner)"),
    ],
)
def test_a_value_that_goes_elsewhere_is_left(use: str, made: str) -> None:
    source = HEAD.format(made=made) + use
    result = migrate_source(source.encode(), Path("a.py"))
    assert [site.code for site in result.sites] == ["TX207"]
    assert result.after is not None
    assert "import tfexplicit" not in result.after.decode()


def test_a_comment_within_the_statement_keeps_it() -> None:
    result = migrate_source(
        (HEAD.format(made=SGD) + f"n = (  # one\n    {CALL})").encode(),
        Path("a.py"),
    )
    assert [site.code for site in result.sites] == ["TX215"]


def test_a_function_that_another_file_calls_may_not_give_the_count(tmp_path: Path) -> None:
    step = f"def step():\n    return {CALL}\n\n\nstep()\n"
    (tmp_path / "a.py").write_text(HEAD.format(made=SGD) + step)
    (tmp_path / "b.py").write_text("from a import step\n\nprint(step())\n")
    first, _ = migrate_paths([tmp_path], Settings())
    assert [site.code for site in first.sites] == ["TX207"]


RUN = """\
import tensorflow as tf
import {keras} as keras

keras.utils.set_random_seed(1)
model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
opt = keras.optimizers.{made}


def gradients(model):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(model(tf.ones((2, 3))) ** 2)
    return tape.gradient(loss, model.trainable_variables)


class Trainer:
    def __init__(self):
        self.model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
        self.opt = keras.optimizers.{made}

    @tf.function
    def _step(self):
        grads = gradients(self.model)
        return self.opt.apply_gradients(zip(grads, self.model.trainable_variables))

    def fit(self):
        for _ in range(3):
            at = self._step()
            tf.print("traced", at)
            print(int(at), self.model.get_weights()[0].tolist())


def step():
    grads = gradients(model)
    return opt.apply_gradients(zip(grads, model.trainable_variables))


first = step()
for _ in range(4):
    _ = opt.apply_gradients(zip(gradients(model), model.trainable_variables))
    print(first.numpy(), int(first) % 2, model.get_weights()[0].tolist())
Trainer().fit()
"""


@pytest.mark.slow
@pytest.mark.parametrize("keras", ["keras", "tf_keras"])
@pytest.mark.parametrize(
    "made", ["Adam(0.1)", "SGD(0.1, use_ema=True)", "SGD(0.1, momentum=0.5, nesterov=True)"]
)
def test_what_a_program_reads_stays_as_it_was(
    keras: str, made: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    before = RUN.format(keras=keras, made=made)
    result = migrate_source(before.encode(), Path("a.py"))
    assert [site.code for site in result.sites] == ["TX116"] * 3
    assert result.after is not None
    said = []
    for text in (before, result.after.decode()):
        (tmp_path / "program.py").write_text(text)
        runpy.run_path(str(tmp_path / "program.py"))
        out, err = capfd.readouterr()
        said.append((_numbers(out), [line for line in err.splitlines() if "traced" in line]))
    np.testing.assert_allclose(*(numbers for numbers, _ in said), rtol=1e-5)
    assert said[0][1] == said[1][1] == ["traced 1", "traced 2", "traced 3"]


def _numbers(text: str) -> list[float]:
    return [float(number) for number in re.findall(r"-?[\d.]+(?:e-?\d+)?", text)]


# `tx.trainables` within the call, on the lines and with the quotes that are there.
@pytest.mark.parametrize(
    ("gradients", "expected"),
    [
        (
            "tape.gradient(loss, model.trainable_variables)",
            "tape.gradient(loss, tx.trainables(model))",
        ),
        (
            "[clip(g, 'é') for g in tape.gradient(\n    loss, model.trainable_variables\n)]",
            "[clip(g, 'é') for g in tape.gradient(\n    loss, tx.trainables(model)\n)]",
        ),
    ],
)
def test_the_tape_within_the_call_gets_trainables(gradients: str, expected: str) -> None:
    use = f"opt.apply_gradients(zip({gradients}, model.trainable_variables))"
    assert migrated(use) == f"tx.update(opt_state, model, {expected})"
