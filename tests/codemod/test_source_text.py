"""The rewrite as a function, and as a command of LibCST's tool."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import tfexplicit_codemod
from libcst.codemod import CodemodContext, CodemodTest
from tfexplicit_codemod import CannotTransform, transform
from tfexplicit_codemod.libcst_command import MigrateCommand

CODEMOD = Path(__file__).parents[2] / "codemod"

BEFORE = """\
# -*- coding: latin-1 -*-
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.Adam(0.1)  # 1 ‰, é


def step(é):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(é) ** 2)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
"""
AFTER = """\
# -*- coding: latin-1 -*-
import tensorflow as tf
import tfexplicit as tx

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.Adam(0.1)  # 1 ‰, é
opt_state = tx.setup(optimizer, model)


def step(é):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(é) ** 2)
    grads = tape.gradient(loss, tx.trainables(model))
    tx.update(opt_state, model, grads)
"""
LEFT = """\
import tensorflow as tf

def step(optimizer, grads, model):
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
"""


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_text_in_text_out(end: str) -> None:
    """No encoding line is obeyed, and the constructor stays: the project is out of sight."""
    done = transform(BEFORE.replace("\n", end))
    assert done.code == AFTER.replace("\n", end)
    assert [(site.code, site.line, site.cell) for site in done.sites] == [("TX101", 12, None)]
    again = transform(done.code)
    assert again.code is done.code
    assert not again.sites


def test_what_is_left_has_a_reason() -> None:
    done = transform(LEFT)
    assert "# TODO(tfexplicit TX201): " in done.code
    (site,) = done.sites
    assert site.left
    assert site.reason
    assert transform(LEFT, todo=False).code is LEFT


@pytest.mark.parametrize("code", ["", "x = (", "x = 1\n", "'\ud83d'\n"])
def test_a_text_without_an_update_comes_back(code: str) -> None:
    assert transform(code) == tfexplicit_codemod.Transformed(code, ())


@pytest.mark.parametrize("code", ["opt.apply_gradients(", "'\ud83d'\nopt.apply_gradients(g)"])
def test_a_text_that_does_not_parse(code: str) -> None:
    with pytest.raises(CannotTransform, match=r"^1:\d+: "):
        transform(code)


def test_importing_the_package_imports_no_heavy_package() -> None:
    code = "import sys, tfexplicit_codemod; print('libcst' in sys.modules, len(sys.modules) < 250)"
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=CODEMOD, capture_output=True, text=True, check=True
    )
    assert ran.stdout == "False True\n"


class TestMigrateCommand(CodemodTest):
    TRANSFORM = MigrateCommand

    def test_rewrites(self) -> None:
        before, after = BEFORE.partition("\n")[2], AFTER.partition("\n")[2]
        self.assertCodemod(before, after)
        self.assertCodemod(after, after)

    def test_warns_of_what_it_leaves(self) -> None:
        context = CodemodContext()
        self.assertCodemod(LEFT, LEFT, context_override=context, todo=False)
        (warning,) = context.warnings
        assert warning.startswith("4:5: TX201 left: ")


def test_in_libcst_s_own_tool(tmp_path: Path) -> None:
    latin = BEFORE.replace("‰", "%").encode("latin-1")
    (tmp_path / "train.py").write_bytes(latin)
    (tmp_path / "left.py").write_text(LEFT)
    (tmp_path / "other.py").write_bytes(b"x = 1\r\n")
    command = "tfexplicit_codemod.libcst_command.MigrateCommand"
    ran = subprocess.run(
        [sys.executable, "-m", "libcst.tool", "codemod", "--no-format", "-x", command, tmp_path],
        env={"PYTHONPATH": str(CODEMOD)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert "4:5: TX201 left: " in ran.stderr
    assert "Transformed 3 files successfully" in ran.stderr
    assert (tmp_path / "train.py").read_bytes() == AFTER.replace("‰", "%").encode("latin-1")
    assert "# TODO(tfexplicit TX201)" in (tmp_path / "left.py").read_text()
    assert (tmp_path / "other.py").read_bytes() == b"x = 1\r\n"
