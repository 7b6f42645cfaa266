"""Folders of Python files for the benchmark of the codemod."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

PACKAGES, MODULES = 100, 99

_FUNCTION = '''

def work_{index}(values, scale={index}):
    """Adds what is above the scale, and takes away what is not."""
    total = 0
    for value in values:
        if value > scale:
            total += value * scale
        else:
            total -= value
    return total
'''
_SITE = """
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.Adam(1e-3)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss
"""


def made_tree(folder: Path, packages: int = PACKAGES, modules: int = MODULES) -> Path:
    """With the default sizes 10,000 files that import each other, of which 1 % have a site."""
    for package in range(packages):
        here = folder / f"package_{package}"
        here.mkdir(parents=True)
        (here / "__init__.py").write_text("")
        for module in range(modules):
            imported = (
                f"from package_{(package + step) % packages}"
                f".module_{(module * 7 + step) % modules} import work_{step}\n"
                for step in range(3)
            )
            functions = (_FUNCTION.format(index=index) for index in range(12))
            text = "".join(["import numpy as np\n", *imported, _SITE * (module == 0), *functions])
            (here / f"module_{module}.py").write_text(text)
    return folder


def keras_tree(folder: Path) -> Path:
    """The files of the Keras that is installed, whose own tests hold sites."""
    found = importlib.util.find_spec("keras")
    assert found is not None
    assert found.origin is not None
    shutil.copytree(Path(found.origin).parent, folder, ignore=shutil.ignore_patterns("*.pyc"))
    return folder


def with_nothing_to_change(folder: Path, to: Path) -> Path:
    """A copy that the codemod has been over."""
    shutil.copytree(folder, to)
    command = [sys.executable, "-m", "tfexplicit_codemod", "migrate", "--allow-dirty", str(to)]
    done = subprocess.run(command, check=False, capture_output=True)
    assert done.returncode in (0, 3), done.stderr
    return to


def every_nth_file(folder: Path, number: int, to: Path) -> Path:
    """A sample in one folder, for tools that need minutes for a tree."""
    to.mkdir()
    for file in sorted(folder.rglob("*.py"))[::number]:
        shutil.copy(file, to / "_".join(file.relative_to(folder).parts))
    return to


def copied(source: Path, folder: Path) -> Path:
    """A checkout without what git keeps of it."""
    shutil.copytree(source, folder, ignore=shutil.ignore_patterns(".git"))
    return folder
