"""Imports and names: what the rewrite adds, what it may not take away, what it may not confuse."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from tfexplicit_codemod.engine import migrate_source
from tfexplicit_codemod.migration import migrate_paths
from tfexplicit_codemod.outcome import FileResult
from tfexplicit_codemod.settings import Settings

BODY = """\
model = make()
optimizer = {adam}(1e-3)
optimizer.apply_gradients(zip(grads, model.trainable_variables))
"""


def migrate(text: str) -> FileResult:
    return migrate_source(text.encode(), Path("a.py"))


def migrated(text: str) -> str:
    result = migrate(text)
    assert result.after is not None, result
    return result.after.decode()


@pytest.mark.parametrize(
    ("head", "adam"),
    [
        ("import tensorflow", "tensorflow.keras.optimizers.Adam"),
        ("import tensorflow as tf", "tf.optimizers.Adam"),
        ("import tensorflow as T", "T.keras.optimizers.legacy.Adam"),
        ("import tensorflow.compat.v2 as tf", "tf.keras.optimizers.Adam"),
        ("import tensorflow.keras.optimizers as o", "o.Adam"),
        ("import tensorflow.keras", "tensorflow.keras.optimizers.Adam"),
        ("from tensorflow import keras as k", "k.optimizers.Adam"),
        ("from tensorflow import optimizers", "optimizers.Adam"),
        ("from tensorflow.keras import optimizers as o", "o.Adam"),
        ("from tensorflow.keras.optimizers import Adam as A", "A"),
        ("import keras", "keras.optimizers.Adam"),
        ("from keras.optimizers import Adam", "Adam"),
        ("from keras.src.optimizers.adam import Adam", "Adam"),
        ("import tf_keras", "tf_keras.optimizers.Adam"),
        ("import tf_keras as keras", "keras.optimizers.Adam"),
        ("try:\n    import keras\nexcept ImportError:\n    from tensorflow import keras",
         "keras.optimizers.Adam"),
    ],
)  # fmt: skip
def test_bug_16_every_spelling_of_the_import_is_seen(head: str, adam: str) -> None:
    after = migrated(f"{head}\n{BODY.format(adam=adam)}")
    assert "tx.update(opt_state, model, grads)" in after
    assert after.startswith(head)


ADAM = BODY.format(adam="tf.keras.optimizers.Adam")
TF = "import tensorflow as tf\n"


@pytest.mark.parametrize(
    ("program", "update"),
    [
        (f"import tfexplicit as tx\n{TF}{ADAM}", "tx.update("),
        (f"import tfexplicit as explicit\n{TF}{ADAM}", "explicit.update("),
        (f"import tfexplicit\n{TF}{ADAM}", "tfexplicit.update("),
        (f"{TF}x = 1\nimport tfexplicit as tx\n{ADAM}", "tx.update("),
    ],
)
def test_bug_26_an_import_that_is_there_is_used(program: str, update: str) -> None:
    after = migrated(program)
    assert after.count("import tfexplicit") == 1
    assert update in after


@pytest.mark.parametrize(
    "program",
    [
        f"{TF}try:\n    import tfexplicit as tx\nexcept ImportError:\n    tx = None\n{ADAM}",
        f"from tfexplicit import *\n{TF}{ADAM}",
        f"{TF}{ADAM}import tfexplicit as tx\n",
        f"{TF}def f():\n    import tfexplicit as tx\n{ADAM}",
        f"{TF}if x:\n    import tfexplicit as tx\n{ADAM}",
    ],
)
def test_bug_26_an_import_that_may_not_have_run_is_not_relied_on(program: str) -> None:
    lines = migrated(program).splitlines()
    used = next(i for i, line in enumerate(lines) if ".setup(" in line)
    alias = lines[used].split(" = ")[1].split(".")[0]
    assert f"import tfexplicit as {alias}" in lines[:used]


def test_bug_25_the_import_stands_above_its_first_use() -> None:
    program = f"import os\n{TF}{ADAM}\nimport sys\n"
    lines = migrated(program).splitlines()
    assert lines.index("import tfexplicit as tx") < lines.index("model = make()")


def test_bug_29_and_30_no_import_is_removed() -> None:
    """Not even one that has no use any more: `# noqa`, `__all__` or a type comment may want it."""
    head = (
        "try:\n    from tensorflow.keras.optimizers import Adam  # noqa: F401\n"
        "except ImportError:  # pragma: no cover\n    Adam = None\n"
        "# about the next import\n"
        "from tensorflow.keras.optimizers import SGD  # kept: re-exported\n"
        "if TYPE_CHECKING:\n    from keras.optimizers import Optimizer\n"
        "__all__ = ['Adam']\n"
        "x = None  # type: Optimizer\n"
    )
    after = migrated(head + BODY.format(adam="SGD"))
    assert after.replace("import tfexplicit as tx\n", "").startswith(head)


SHADOWED = {
    "tf is a parameter": f"{TF}def f(tf, model, grads):\n    o = tf.keras.optimizers.Adam()\n"
    "    o.apply_gradients(zip(grads, model.trainable_variables))\n",
    "Adam is imported anew": "from keras.optimizers import Adam\nfrom mine import Adam\n"
    + BODY.format(adam="Adam"),
    "optimizer is bound by a loop": f"{TF}optimizer = tf.keras.optimizers.Adam()\n"
    "for optimizer in mine:\n"
    "    optimizer.apply_gradients(zip(grads, model.trainable_variables))\n",
    "optimizer is bound by a comprehension": f"{TF}optimizer = tf.keras.optimizers.Adam()\n"
    "model = make()\n"
    "[optimizer.apply_gradients(zip(g, model.trainable_variables)) for optimizer in mine]\n",
    "optimizer is deleted": f"{TF}optimizer = tf.keras.optimizers.Adam()\nmodel = make()\n"
    "del optimizer\noptimizer.apply_gradients(zip(grads, model.trainable_variables))\n",
    "global": f"{TF}optimizer = tf.keras.optimizers.Adam()\nmodel = make()\n"
    "def f():\n    global optimizer\n    optimizer = mine()\n"
    "    optimizer.apply_gradients(zip(grads, model.trainable_variables))\n",
    "class attribute": f"{TF}optimizer = tf.keras.optimizers.Adam()\nmodel = make()\n"
    "class C:\n    optimizer = mine()\n"
    "    optimizer.apply_gradients(zip(grads, model.trainable_variables))\n",
    "except": f"{TF}optimizer = tf.keras.optimizers.Adam()\nmodel = make()\n"
    "try: pass\nexcept E as optimizer:\n"
    "    optimizer.apply_gradients(zip(grads, model.trainable_variables))\n",
}


@pytest.mark.parametrize("name", SHADOWED)
def test_bug_34_a_name_that_means_something_else_is_not_rewritten(name: str) -> None:
    result = migrate(SHADOWED[name])
    assert all(site.left for site in result.sites)
    assert result.after is None or ast.dump(ast.parse(result.after)) == ast.dump(
        ast.parse(SHADOWED[name])
    )


def test_bug_45_classes_over_three_modules_and_a_package(tmp_path: Path) -> None:
    files = {
        "net/__init__.py": "from .top import Top as Net\n",
        "net/base.py": f"{TF}class Base(tf.keras.Model):\n    pass\n",
        "net/mid.py": "from .base import Base\nclass Mid(Base):\n    pass\n",
        "net/top.py": "from net import mid\nclass Top(mid.Mid):\n    pass\n",
        "one.py": f"{TF}class One(tf.keras.optimizers.SGD):\n    pass\n",
        "two.py": "import one\nclass Two(one.One):\n    pass\n",
        "three.py": "from two import *\nfrom two import Two as Second\nclass Third(Second): pass\n",
        "train.py": f"{TF}import net\nimport three\nmodel = net.Net()\n"
        "optimizer = three.Third(0.1)\n"
        "grads = tape.gradient(loss, model.trainable_variables)\n"
        "optimizer.apply_gradients(zip(grads, model.trainable_variables))\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    results = {each.path.name: each for each in migrate_paths([tmp_path], Settings())}
    train = results["train.py"].after
    assert train is not None
    assert "optimizer = three.Third(0.1)\nopt_state = tx.setup(optimizer, model)" in train.decode()
    assert sum(len(each.sites) for each in results.values()) == 1
