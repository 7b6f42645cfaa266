"""What the tests of notebooks share, those of sites that are left, and those of the shell."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from tfexplicit_codemod.engine import migrate_source
from tfexplicit_codemod.verify.own_folders import own_folders
from tfexplicit_codemod.verify.process import Program, run
from tfexplicit_codemod.verify.records import Trajectory
from tfexplicit_codemod.verify.request import Request

IMPLICIT = """\
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.SGD(0.1)

def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x) - y) ** 2)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
"""

RECORDING = Path(__file__).with_name("recording.py")

AsNotebook = Callable[..., bytes]


@pytest.fixture
def as_notebook() -> AsNotebook:
    """Code cells with these texts as a notebook; a text that begins with `#md` is a text cell."""

    def made(*texts: str, **layout: object) -> bytes:
        cells = [
            {"cell_type": "markdown", "id": f"m{index}", "metadata": {}, "source": [text]}
            if text.startswith("#md")
            else {
                "cell_type": "code",
                "execution_count": index,
                "id": f"c{index}",
                "metadata": {"tags": ["é"]},
                "outputs": [{"output_type": "stream", "name": "stdout", "text": ["<b>\n"]}],
                "source": text.splitlines(keepends=True),
            }
            for index, text in enumerate(texts)
        ]
        notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
        return (json.dumps(notebook, **{"indent": 1, **layout}) + "\n").encode()  # type: ignore[arg-type]

    return made


AssertLeft = Callable[[str, list[str], str], None]


@pytest.fixture
def assert_left() -> AssertLeft:
    """Checks that nothing but TODOs is added to a program, and the codes and the first reason."""

    def check(program: str, codes: list[str], words: str) -> None:
        result = migrate_source(program.encode(), Path("left.py"))
        assert [site.code for site in result.sites] == codes
        assert words in result.sites[0].reason
        assert result.after is not None
        lines = result.after.decode().splitlines()
        assert [line for line in lines if "# TODO(tfexplicit" not in line] == program.splitlines()
        assert migrate_source(result.after, Path("left.py")).after is None

    return check


@pytest.fixture
def implicit() -> str:
    """A program with one site, which is rewritten."""
    return IMPLICIT


@pytest.fixture
def project(implicit: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder: that program as `train.py` and as `lib/vendored.py`."""
    (tmp_path / "lib").mkdir()
    (tmp_path / "train.py").write_text(implicit)
    (tmp_path / "lib" / "vendored.py").write_text(implicit)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="session")
def recording() -> ModuleType:
    """`recording.py`, which imports TensorFlow: most tests do without."""
    spec = importlib.util.spec_from_file_location("recording", RECORDING)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


RunProgram = Callable[..., Trajectory]


@pytest.fixture(scope="session")
def run_program(tmp_path_factory: pytest.TempPathFactory) -> RunProgram:
    """Runs `python COMMAND` in a folder, as `verify` runs one of the two programs."""

    def ran(
        folder: Path,
        *command: str,
        original: Path = Path("/nowhere"),
        steps: int | None = None,
        timeout: float | None = None,
    ) -> Trajectory:
        records, temporary = (tmp_path_factory.mktemp(name) for name in ("records", "temporary"))
        request = Request(
            str(records), str(folder), str(original), own_folders(), str(temporary), steps
        )
        return run(Program("before", [sys.executable, *command], folder), request, timeout)

    return ran
