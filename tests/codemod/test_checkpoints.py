"""Optimizers and models that are reached through a `tf.train.Checkpoint`."""

from __future__ import annotations

from pathlib import Path

import pytest
from tfexplicit_codemod.engine import migrate_source

STEP = (
    "grads = tape.gradient(loss, {m}.trainable_variables)\n"
    "{o}.apply_gradients(zip(grads, {m}.trainable_variables))\n"
)
HEAD = "import tensorflow as tf\nmodel = make()\n"
MADE = "ckpt = tf.train.Checkpoint(optimizer=tf.keras.optimizers.Adam(), model=model)\n"
USED = STEP.format(m="ckpt.model", o="ckpt.optimizer")


def after(program: str) -> str:
    result = migrate_source(program.encode(), Path("a.py"))
    assert [site.reason for site in result.sites if site.left] == []
    assert result.after is not None
    return result.after.decode()


def test_at_module_level() -> None:
    assert "opt_state = tx.setup(ckpt.optimizer, model)\n" in after(HEAD + MADE + USED)


def test_an_optimizer_with_a_name_of_its_own_keeps_it() -> None:
    program = HEAD + (
        "opt = tf.keras.optimizers.Adam()\nckpt = tf.train.Checkpoint(optimizer=opt)\n"
        + STEP.format(m="model", o="opt")
        + STEP.format(m="model", o="ckpt.optimizer")
    )
    text = after(program)
    assert text.count("tx.setup(opt, model)") == text.count("tx.setup(") == 1
    assert "opt = tf.keras.optimizers.Adam()\n" in text


@pytest.mark.parametrize(
    "change", ["ckpt.optimizer = tf.keras.optimizers.SGD()\n", "if x:\n    ckpt = other()\n"]
)
def test_what_is_set_later_is_not_followed(change: str) -> None:
    (site,) = migrate_source((HEAD + MADE + change + USED).encode(), Path("a.py")).sites
    assert site.code == "TX205"


def test_arguments_out_of_sight() -> None:
    program = HEAD + MADE.replace("model=model", "**others") + USED
    (site,) = migrate_source(program.encode(), Path("a.py")).sites
    assert site.code == "TX205"
