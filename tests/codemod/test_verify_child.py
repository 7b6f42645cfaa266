"""What a program sees of `verify`: nothing that `python SCRIPT` would not show it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tfexplicit_codemod.cli import main
from tfexplicit_codemod.errors import CannotVerify
from tfexplicit_codemod.verify import verdict
from tfexplicit_codemod.verify.process import Program, run
from tfexplicit_codemod.verify.records import Leaf, Trajectory, Update, read_trajectory

PROGRAM = """\
import atexit, json, os, pickle, sys
from pathlib import Path

class Kept:
    pass

def leave():
    pickle.dumps(Kept())
    seen = [__name__, __file__, sys.argv, sys.path[0], Path(__file__).read_text().count("Kept")]
    Path(sys.argv[1]).write_text(json.dumps(seen))

atexit.register(leave)
os.chdir("/")
"""

STEP = """\
import tensorflow as tf

leaf = tf.Variable(1.0)
optimizer = tf.keras.optimizers.SGD(0.1)
with tf.GradientTape() as tape:
    loss = leaf**2
optimizer.apply_gradients(zip(tape.gradient(loss, [leaf]), [leaf]))
"""


def test_the_script_is_main_under_its_absolute_name_also_after_a_chdir(tmp_path: Path) -> None:
    copy, seen = tmp_path / "copy", tmp_path / "seen"
    (copy / "src").mkdir(parents=True)
    file = copy / "src" / "train.py"
    file.write_text(PROGRAM)
    arguments = (str(seen),)
    program = Program("before", copy, Path("/nowhere"), "src/train.py", arguments, copy)
    with pytest.raises(CannotVerify, match="without one update"):
        run(program, tmp_path)
    argv = ["src/train.py", str(seen)]
    assert json.loads(seen.read_text()) == ["__main__", str(file), argv, str(file.parent), 3]
    assert read_trajectory(tmp_path / "before.jsonl").loaded == ["src/train.py"]


def test_both_programs_run_in_a_folder_of_the_same_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = []

    def fake_run(program: Program, workspace: Path) -> Trajectory:
        assert program.working_directory.is_relative_to(program.copy)
        source = (program.working_directory / program.script).read_text()
        ran.append((program.copy, program.working_directory, "tx.update" in source))
        leaf = Leaf("leaf", (), "float32", 0, *[0.0] * 8)
        return Trajectory([Update(1, 0, 1.0, 0, (leaf,))], loaded=["train.py"])

    monkeypatch.setattr(verdict, "run", fake_run)
    (tmp_path / "train.py").write_text(STEP)
    monkeypatch.chdir(tmp_path)
    assert main(["verify", "train.py"]) == 0
    before, after = ran
    assert before[:2] == after[:2]
    assert (before[2], after[2]) == (False, True)
