"""What a file needs to know of the others of its project, before it may be rewritten."""

from __future__ import annotations

from pathlib import Path

import pytest
from tfexplicit_codemod.migration import migrate_paths
from tfexplicit_codemod.outcome import FileResult
from tfexplicit_codemod.settings import Settings

MODEL = """\
import tensorflow as tf


class Net(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.first = tf.keras.layers.Dense(1)
"""
OPTIMIZERS = """\
import tensorflow as tf


def make_optimizer(rate):
    return tf.keras.optimizers.Adam(rate)


class Own(tf.keras.optimizers.Adam):
    pass
"""
TRAIN = """\
import tensorflow as tf
from {package}net import Net
from {package}optimizers import make_optimizer

model = Net()
optimizer = make_optimizer(0.1)
grads = tape.gradient(loss, model.variables)
optimizer.apply_gradients(zip(grads, model.variables))
"""
STEP = """\
import tensorflow as tf


def train_step(model, optimizer):
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))


model = tf.keras.Sequential()
optimizer = tf.keras.optimizers.Adam()
train_step(model, optimizer)
"""


def migrated(folder: Path, files: dict[str, str]) -> dict[str, FileResult]:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return {r.path.relative_to(folder).as_posix(): r for r in migrate_paths([folder], Settings())}


@pytest.mark.parametrize("package", ["", ".", "project.", "..project."])
def test_class_and_factory_of_other_files(tmp_path: Path, package: str) -> None:
    files = {
        "net.py": MODEL,
        "optimizers.py": OPTIMIZERS,
        "train.py": TRAIN.format(package=package),
    }
    results = migrated(tmp_path, {f"project/{name}": text for name, text in files.items()})
    result = results["project/train.py"]
    assert [site.code for site in result.sites] == ["TX110"]
    assert result.after is not None
    assert "opt_state = tx.setup(optimizer, model)\n" in result.after.decode()
    assert "make_optimizer(0.1)" in result.after.decode()


def test_bug_45_a_class_reached_through_a_package(tmp_path: Path) -> None:
    train = TRAIN.format(package="")
    files = {
        "models/__init__.py": "from .net import Net as Network\n",
        "models/net.py": MODEL,
        "optimizers.py": OPTIMIZERS,
        "train.py": train.replace("net import Net", "models import Network as Net"),
    }
    assert [site.code for site in migrated(tmp_path, files)["train.py"].sites] == ["TX110"]


def test_a_part_of_an_object_of_another_file(tmp_path: Path) -> None:
    text = TRAIN.format(package="").replace("model.variables", "model.first.variables")
    files = {"net.py": MODEL, "optimizers.py": OPTIMIZERS, "train.py": text}
    train = migrated(tmp_path, files)["train.py"]
    assert train.after is not None
    assert "tx.setup(optimizer, model.first)" in train.after.decode()


def test_layers_that_another_file_freezes(tmp_path: Path) -> None:
    frozen = MODEL + "        self.first.trainable = False\n"
    files = {"net.py": frozen, "optimizers.py": OPTIMIZERS, "train.py": TRAIN.format(package="")}
    assert [site.code for site in migrated(tmp_path, files)["train.py"].sites] == ["TX206"]


def test_two_modules_of_one_name_are_told_apart_by_their_folders(tmp_path: Path) -> None:
    files = {"a/net.py": MODEL, "b/net.py": "class Net:\n    variables = []\n"}
    for folder in ("a", "b"):
        files[f"{folder}/optimizers.py"] = OPTIMIZERS
        files[f"{folder}/train.py"] = TRAIN.format(package="")
    results = migrated(tmp_path, files)
    assert [site.code for site in results["a/train.py"].sites] == ["TX110"]
    assert [site.code for site in results["b/train.py"].sites] == ["TX206"]


def test_minimize_of_a_class_of_another_file(tmp_path: Path) -> None:
    text = (
        "import tensorflow as tf\nfrom optimizers import Own\n"
        "model = tf.keras.Sequential()\noptimizer = Own()\n"
        "optimizer.minimize(loss_fn, var_list=model.trainable_variables)\n"
    )
    results = migrated(tmp_path, {"optimizers.py": OPTIMIZERS, "train.py": text})
    assert [site.code for site in results["train.py"].sites] == ["TX208"]


def test_function_that_another_file_calls(tmp_path: Path) -> None:
    alone = migrated(tmp_path / "alone", {"step.py": STEP})["step.py"]
    assert [site.code for site in alone.sites] == ["TX109"]
    caller = "from step import train_step\ntrain_step(net, optimizer)\n"
    called = migrated(tmp_path / "called", {"step.py": STEP, "caller.py": caller})["step.py"]
    assert [site.code for site in called.sites] == ["TX201"]
    why = "is given `optimizer`, which cannot be proven to be a Keras optimizer (in caller.py)"
    assert called.sites[0].reason == f"`optimizer` of `train_step` {why}"


def test_compiled_model_that_another_file_uses(tmp_path: Path) -> None:
    net = MODEL + (
        "\n    def train_step(self, data):\n"
        "        grads = tape.gradient(loss, self.trainable_variables)\n"
        "        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))\n\n\n"
        "net = Net()\nnet.compile('adam')\n"
    ).replace("trainable_variables", "trainable_weights")
    alone = migrated(tmp_path / "alone", {"net.py": net})["net.py"]
    assert [site.code for site in alone.sites] == ["TX108"]
    made = b"self.opt_state = tx.setup(self.optimizer, self)\n"
    assert made in (alone.after or b"")
    loads = net + "net.load_weights(path)\n"
    loaded = migrated(tmp_path / "loaded", {"net.py": loads})["net.py"]
    assert made.replace(b")", b', build="at_first_update")') in (loaded.after or b"")
    weights = net + "np.save(path, x)\nModelCheckpoint(path, save_weights_only=True)\n"
    saved = migrated(tmp_path / "saved", {"net.py": "import numpy as np\n" + weights})["net.py"]
    assert [site.code for site in saved.sites] == ["TX108"]
    caller = "from net import Net\nNet().compile('sgd')\n"
    used = migrated(tmp_path / "used", {"net.py": net, "caller.py": caller})["net.py"]
    assert [site.code for site in used.sites] == ["TX204"]
