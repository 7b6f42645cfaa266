"""Optimizer classes that the rewrite leaves unused go from their import, and nothing else does."""

from __future__ import annotations

from pathlib import Path

import pytest
from tfexplicit_codemod.migration import migrate_paths
from tfexplicit_codemod.settings import Settings
from tfexplicit_codemod.write import write_changed

HEAD = """\
# A program.
import os

# Theirs.
{imports}
import tensorflow as tf
"""
REST = """
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
optimizer = Adam(0.1)


def step(grads):
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
"""
ONLY = "from tensorflow.keras.optimizers import Adam"


def migrated(folder: Path, files: dict[str, str]) -> dict[str, str]:
    """The files after a run, and after a second one that must change nothing."""
    for name, text in files.items():
        (folder / name).write_text(text)
    write_changed(migrate_paths([folder], Settings()))
    assert not [r.path for r in migrate_paths([folder], Settings()) if r.is_to_be_written]
    return {name: (folder / name).read_text() for name in files}


def imports_after(folder: Path, imports: str, rest: str = REST, name: str = "train.py") -> str:
    """What stands between "Theirs." and the model."""
    after = migrated(folder, {name: HEAD.format(imports=imports) + rest})[name]
    assert "\noptimizer = tx.Adam(0.1)\nopt_state = tx.setup(optimizer, model)\n" in after
    assert after.startswith("# A program.\nimport os\n\n# Theirs.\n")
    return after.partition("# Theirs.\n")[2].partition("\nmodel =")[0]


@pytest.mark.parametrize(
    ("imports", "left"),
    [
        (ONLY, ""),
        ("from keras.optimizers import Adam, SGD", "from keras.optimizers import SGD\n"),
        ("from keras.optimizers import (SGD, Adam)", "from keras.optimizers import (SGD)\n"),
        (
            "from keras.optimizers import (\n    Adam,\n    SGD,\n)",
            "from keras.optimizers import (\n    SGD,\n)\n",
        ),
        (
            "from keras.optimizers import (\n    SGD,\n    Adam,\n)",
            "from keras.optimizers import (\n    SGD,\n)\n",
        ),
        ("\n# Ours.\n" + ONLY + "\nimport re", "\n# Ours.\nimport re\n"),
    ],
)
def test_the_class_goes_from_its_import(tmp_path: Path, imports: str, left: str) -> None:
    after = imports_after(tmp_path, imports)
    assert after == left + "import tensorflow as tf\nimport tfexplicit as tx\n"


def test_the_import_of_ours_takes_the_place_of_the_only_one(tmp_path: Path) -> None:
    program = (
        "import os\n\n# The rule.\nfrom keras.optimizers import Adam as A\nfrom m import model\n"
    )
    program += REST.replace("Adam", "A").replace("tf.keras.Sequential", "Sequential")
    after = migrated(tmp_path, {"a.py": program})["a.py"]
    assert after.startswith(
        "import os\n\n# The rule.\nfrom m import model\nimport tfexplicit as tx\n"
    )


STAYS = {
    "trailing_comment": (ONLY + "  # noqa: E402", ""),
    "comment_inside": ("from keras.optimizers import (  # rules\n    Adam,\n)", ""),
    "several_on_a_line": (ONLY + "; import re", ""),
    "said_to_be_exported": ("from keras.optimizers import Adam as Adam", ""),
    "in_all": (ONLY, '__all__ = ["Adam", "step"]\n'),
    "in_an_annotation": (ONLY, 'def other(optimizer: "Adam"): ...\n'),
    "used": (ONLY, "print(Adam)\n"),
    "used_by_name": (ONLY, "print(globals()[name])\n"),
    "imported_in_a_try": (f"try:\n    {ONLY}\nexcept ImportError:\n    raise", ""),
}


@pytest.mark.parametrize("name", STAYS)
def test_what_something_else_may_need_stays(tmp_path: Path, name: str) -> None:
    imports, more = STAYS[name]
    after = imports_after(tmp_path, imports, REST + more)
    assert after.startswith(imports + "\nimport tensorflow as tf\n")


def test_a_package_hands_on_what_it_imports(tmp_path: Path) -> None:
    assert imports_after(tmp_path, ONLY, name="__init__.py").startswith(ONLY)


def test_what_another_file_imports_from_here_stays(tmp_path: Path) -> None:
    program = HEAD.format(imports=ONLY) + REST
    files = {"train.py": program, "other.py": "from train import Adam\n"}
    assert ONLY + "\n" in migrated(tmp_path, files)["train.py"]


def test_what_was_unused_before_stays(tmp_path: Path) -> None:
    kept = "from keras.optimizers import SGD"
    assert imports_after(tmp_path, f"{kept}\n{ONLY}").startswith(kept + "\nimport tensorflow")


def test_with_a_keras_object_the_import_stays(tmp_path: Path) -> None:
    program = HEAD.format(imports=ONLY) + REST + "print(optimizer.iterations)\n"
    after = migrated(tmp_path, {"a.py": program})["a.py"]
    assert ONLY + "\n" in after
    assert "\noptimizer = Adam(0.1)\n" in after
