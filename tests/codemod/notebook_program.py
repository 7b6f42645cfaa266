"""A program cell by cell, before and after, and its migration: what tests of notebooks share."""

from __future__ import annotations

import json
from pathlib import Path

from tfexplicit_codemod.notebook.migrate import migrate_notebook
from tfexplicit_codemod.outcome import FileResult, Outcome

IMPORTS = "import tensorflow as tf"
MODEL = "model = tf.keras.Sequential([tf.keras.layers.Dense(1)])"
OPTIMIZER = "optimizer = tf.keras.optimizers.SGD(0.1)"
STEP = """\
@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x) - y) ** 2)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss"""
STEP_AFTER = """\
@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x) - y) ** 2)
    grads = tape.gradient(loss, tx.trainables(model))
    tx.update(opt_state, model, grads)
    return loss"""
OPTIMIZER_AFTER = "optimizer = tx.SGD(0.1)\nopt_state = tx.setup(optimizer, model)"
IMPORTS_AFTER = "import tensorflow as tf\nimport tfexplicit as tx"
RUN = "step(x, y)"


def migrate(source: bytes, **options: bool) -> FileResult:
    return migrate_notebook(source, Path("nb.ipynb"), **options)


def texts(source: bytes) -> list[str]:
    return ["".join(cell["source"]) for cell in json.loads(source)["cells"]]


def migrated(source: bytes) -> list[str]:
    """The cells after a run in which every site is rewritten; a second run changes none."""
    result = migrate(source)
    assert result.outcome is Outcome.CHANGED, result
    assert not [site for site in result.sites if site.left]
    assert result.after is not None
    again = migrate(result.after)
    assert (again.outcome, again.after) == (Outcome.UNCHANGED, None)
    return texts(result.after)
