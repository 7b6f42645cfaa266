"""Where a rule would train otherwise (sparse gradients, float64), a Keras object stays one."""

from __future__ import annotations

from pathlib import Path

import pytest
from tfexplicit_codemod.engine import migrate_source
from tfexplicit_codemod.migration import migrate_paths
from tfexplicit_codemod.settings import Settings

PROGRAM = """\
import tensorflow as tf
from models import make_model

model = make_model()
optimizer = tf.keras.optimizers.{optimizer}(0.1)


def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(model(x))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
"""
DENSE = "import tensorflow as tf\n\ndef make_model():\n    return tf.keras.layers.Dense(1)\n"
SPARSE = DENSE.replace("Dense(1)", "Embedding(9, 1)")


def rewritten(optimizer: str, helper: str = "") -> str:
    source = PROGRAM.format(optimizer=optimizer) + helper
    after = migrate_source(source.encode(), Path("a.py")).after
    assert after is not None
    assert b"tx.update(opt_state, model, grads)" in after
    return after.decode()


@pytest.mark.parametrize(
    ("optimizer", "helper", "becomes_rule"),
    [
        ("Adam", "", True),
        ("Adam", "table = tf.keras.layers.Embedding(9, 2)\n", False),
        ("AdamW", "rows = tf.gather(w, ids)\n", False),
        ("SGD", "rows = tf.gather(w, ids)\n", True),
        ("SGD", "w = tf.Variable(1.0, dtype=tf.float64)\n", False),
        ("SGD", "w = tf.Variable(1.0, dtype=tf.bfloat16)\n", False),
        ("SGD", "tf.keras.backend.set_floatx('float64')\n", False),
        ("SGD", "import os, numpy as np\nw = {'a': tf.Variable(np.ones(3))}\n", False),
        ("SGD", "import os, numpy as np\nx = model(x).numpy()\n", True),
    ],
)
def test_signs_in_the_file_itself(optimizer: str, helper: str, becomes_rule: bool) -> None:
    assert (f"tx.{optimizer}(" in rewritten(optimizer, helper)) is becomes_rule


@pytest.mark.parametrize(
    ("files", "becomes_rule"),
    [
        ({"models.py": DENSE}, True),
        ({"models.py": SPARSE}, False),
        (
            {
                "lib/models/__init__.py": "from .text import make_model\n",
                "lib/models/text.py": SPARSE,
            },
            False,
        ),
        ({"models.py": DENSE, "unrelated.py": SPARSE}, True),
        ({"models.py": "import train\nx = (\n"}, True),
        ({"models.py": f"{DENSE}tf.keras.backend.set_floatx(chosen)\n"}, False),
        ({"models.py": f"{DENSE}kind = tf.float64\n"}, False),
        ({"models.py": DENSE, "unrelated.py": "kind = tf.float64\n"}, True),
        ({"models.py": DENSE, "main.py": "set_floatx(chosen)\nimport train\n"}, False),
        (
            {
                "models.py": DENSE,
                "main.py": "import own, train\n",
                "own.py": "set_floatx(chosen)\n",
            },
            False,
        ),
        ({"models.py": DENSE, "another_program.py": "set_floatx(chosen)\n"}, True),
    ],
    ids=[
        *("dense", "sparse", "in a package", "not imported", "unparsable"),
        *("floatx set", "float64", "float64 not imported", "floatx set by the main program"),
        *("floatx set beside the file", "floatx set by another program"),
    ],
)
def test_signs_in_what_the_file_imports(
    tmp_path: Path, files: dict[str, str], becomes_rule: bool
) -> None:
    for name, text in {"train.py": PROGRAM.format(optimizer="Adam"), **files}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    results = {result.path.name: result for result in migrate_paths([tmp_path], Settings())}
    after = results["train.py"].after
    assert after is not None
    assert (b"tx.Adam(" in after) is becomes_rule


def test_the_legacy_adam_stays_and_the_legacy_sgd_becomes_a_rule() -> None:
    assert "tf.keras.optimizers.legacy.Adam(0.1)" in rewritten("legacy.Adam")
    assert "tx.SGD(0.1)" in rewritten("legacy.SGD")
