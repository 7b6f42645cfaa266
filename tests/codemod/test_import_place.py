"""Where `import tfexplicit as tx` goes among the imports of a file."""

from __future__ import annotations

from pathlib import Path

import pytest
from tfexplicit_codemod.engine import migrate_source
from tfexplicit_codemod.migration import migrate_paths
from tfexplicit_codemod.settings import Settings

USE = """\
model = make()
opt = tf.keras.optimizers.Adam()
opt.apply_gradients(zip(grads, model.trainable_variables))
"""
# The imports of `train.py`, and the one that is followed by that of tfexplicit.
PLACES = {
    "relative": ("import tensorflow as tf\nfrom absl import app\nfrom . import nets\n", 2),
    "of_the_project": ("import tensorflow as tf\nfrom absl import app\nfrom pkg import nets\n", 2),
    "of_a_source_folder": ("import tensorflow as tf\n\nimport helpers.nets\n", 1),
    "of_the_script_folder": ("import tensorflow as tf\nimport nets\n", 1),
    "others_follow": ("import tensorflow as tf\nfrom . import nets\nfrom absl import app\n", 3),
    "a_module_within_a_package": ("import numpy as np\nimport tensorflow as tf\n", 2),
    "in_a_try": ("try:\n    import tensorflow as tf\nfinally:\n    pass\nfrom . import nets\n", 4),
    "only_the_project_has_tensorflow": ("from . import nets\nfrom .tf import tf\n", 2),
    "skipped_by_isort": (
        "import tensorflow as tf\nfrom absl import app\nfrom absl import flags  # isort:skip\n",
        2,
    ),
    "hidden_in_a_page": (
        "import tensorflow as tf\n# hide: begin\nfrom absl import app\nx = 1\n# hide: end\n",
        1,
    ),
    "hidden_imports_before": (
        "# hide: begin\nimport os\n# hide: end\nimport tensorflow as tf\nfrom . import nets\n",
        4,
    ),
}


@pytest.mark.parametrize("name", PLACES)
def test_below_other_packages_above_the_project(name: str, tmp_path: Path) -> None:
    head, after = PLACES[name]
    modules = ("pkg/__init__.py", "pkg/nets.py", "pkg/tensorflow.py", "src/helpers/nets.py")
    for each in (*modules, "pkg/train.py"):
        (tmp_path / each).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / each).write_text("x = 1\n")
    script = tmp_path / ("train.py" if "script" in name else "pkg/train.py")
    (tmp_path / "nets.py").write_text("x = 1\n")
    script.write_text(head + USE)
    (result,) = (r for r in migrate_paths([tmp_path], Settings()) if r.path == script)
    assert result.after is not None
    lines = result.after.decode().splitlines()
    assert lines.index("import tfexplicit as tx") == after
    assert [line for line in lines if "tfexplicit" not in line][: len(head.splitlines())] == (
        head.splitlines()
    )
    assert migrate_source(result.after, script).after is None
