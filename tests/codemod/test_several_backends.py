"""Files that run on every backend of Keras are left; those that need TensorFlow are migrated."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tfexplicit_codemod.engine import migrate_source

AssertLeft = Callable[[str, list[str], str], None]

STEP = "model = make()\nopt = keras.optimizers.Adam()\n"
STEP += "def step(grads):\n    opt.apply(grads, model.trainable_variables)\n"
BRANCH = """\
if keras.config.backend() == "tensorflow":
    import tensorflow as tf
    with tf.GradientTape() as tape:
        loss = f(model)
    step(tape.gradient(loss, model.trainable_variables))
elif keras.config.backend() == "torch":
    loss.backward()
"""

LEFT = {
    "own_modules": f"import keras\nfrom keras.src import backend\n{STEP}",
    "operations_of_all": f"import keras\nfrom keras import ops\n{STEP}step([ops.zeros(3)])\n",
    "a_branch_per_backend": f"import keras\nfrom keras.src import ops\n{STEP}{BRANCH}",
    "a_branch_in_a_program": f"import keras\n{STEP}{BRANCH}",
    "a_branch_of_the_module_imports": "import keras\nfrom keras import backend\n"
    "if backend.backend() == 'tensorflow':\n    import tensorflow as tf\n"
    + STEP
    + "step(tf.GradientTape().gradient(f(), model.trainable_variables))\n",
}
MIGRATED = {
    "needs_tensorflow": f"import keras\nimport tensorflow as tf\nfrom keras.src import ops\n{STEP}",
    "tests_of_one_backend": "import keras\nfrom keras.src import backend\n"
    f"import tensorflow as tf\nskip(backend.backend() != 'tensorflow')\n{STEP}",
    "chooses_tensorflow": "import os\nos.environ['KERAS_BACKEND'] = 'tensorflow'\n"
    f"import keras\nfrom keras import ops\n{STEP}",
    "has_a_tape": "import keras\nfrom keras import ops\nfrom keras.src.tape import GradientTape\n"
    + STEP,
}


@pytest.mark.parametrize("name", LEFT)
def test_left(name: str, assert_left: AssertLeft) -> None:
    assert_left(LEFT[name], ["TX205"], "another backend of Keras than TensorFlow")


@pytest.mark.parametrize("name", MIGRATED)
def test_migrated(name: str) -> None:
    (site,) = migrate_source(MIGRATED[name].encode(), Path("one.py")).sites
    assert site.code == "TX101"
