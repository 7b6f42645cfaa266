"""How much is parsed for a tree of files: counts, which are exact where times are not."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path

import libcst
import pytest
from tfexplicit_codemod.migration import migrate_paths
from tfexplicit_codemod.settings import Settings

STEP = """\
import tensorflow as tf
from first import net

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.Adam(0.1)
with tf.GradientTape() as tape:
    loss = model(x)
grads = tape.gradient(loss, model.trainable_variables)
optimizer.apply_gradients(zip(grads, model.trainable_variables))
"""
# No site, though each names a method of one.
COLD = ("frame.apply(len)\n", "def apply_gradients(): ...\n", "scipy.minimize(f)\n")


def counted(monkeypatch: pytest.MonkeyPatch, module: object, name: str) -> list[object]:
    """What a function is called with from now on."""
    given: list[object] = []
    function: Callable[..., object] = getattr(module, name)

    def counting(source: object, *arguments: object, **keywords: object) -> object:
        given.append(source)
        return function(source, *arguments, **keywords)

    monkeypatch.setattr(module, name, counting)
    return given


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    return counted(monkeypatch, ast, "parse")


@pytest.fixture
def parsed_by_libcst(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    return counted(monkeypatch, libcst, "parse_module")


def tree(folder: Path, last: str) -> None:
    """`step.py` imports `first.py`, that `second.py`, and so on; twenty files import `step.py`."""
    texts = {"step": STEP, "first": "import second", "second": "import third", "third": last}
    texts |= {f"user_{index}": "import step\nimport first" for index in range(20)}
    texts |= {f"cold_{index}": text for index, text in enumerate(COLD)}
    for name, text in texts.items():
        (folder / f"{name}.py").write_text(text)


def test_nothing_is_parsed_without_a_method_of_an_optimizer(
    tmp_path: Path, parsed: list[object], parsed_by_libcst: list[object]
) -> None:
    tree(tmp_path, "")
    (tmp_path / "step.py").write_text("import first")
    for cold in tmp_path.glob("cold_*.py"):
        cold.unlink()
    migrate_paths([tmp_path], Settings())
    assert parsed == parsed_by_libcst == []


def test_files_without_a_site_are_parsed_once_and_never_by_libcst(
    tmp_path: Path, parsed: list[object], parsed_by_libcst: list[object]
) -> None:
    tree(tmp_path, "")
    (tmp_path / "step.py").write_text("import first")
    migrate_paths([tmp_path], Settings())
    assert sorted(map(str, parsed)) == sorted(COLD)
    assert parsed_by_libcst == []


@pytest.mark.parametrize(
    ("last", "on_the_way"),
    [("", 0), ("layer = Embedding(3, 2)", 3)],
    ids=["no sparse gradient", "a sparse gradient three imports away"],
)
def test_only_the_file_with_a_site_and_those_on_a_way_are_parsed(
    tmp_path: Path,
    parsed: list[object],
    parsed_by_libcst: list[object],
    last: str,
    on_the_way: int,
) -> None:
    tree(tmp_path, last)
    migrate_paths([tmp_path], Settings())
    before_and_after = 2
    assert len(parsed) == len(COLD) + before_and_after + on_the_way
    assert parsed_by_libcst == [STEP.encode()]
