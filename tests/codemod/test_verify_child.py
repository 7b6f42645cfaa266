"""What a program sees of `verify`: nothing that `python SCRIPT` would not show it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from tfexplicit_codemod.cli import main
from tfexplicit_codemod.errors import CannotVerify
from tfexplicit_codemod.verify import process
from tfexplicit_codemod.verify.outside import Outside
from tfexplicit_codemod.verify.process import Program
from tfexplicit_codemod.verify.records import Gradient, Leaf, Trajectory, Update
from tfexplicit_codemod.verify.request import Request

RunProgram = Callable[..., Trajectory]

PROGRAM = """\
import atexit, json, os, pickle, sys
from pathlib import Path

file = __file__

class Kept:
    pass

def leave():
    pickle.dumps(Kept())
    seen = [__name__, file, sys.argv, sys.path[0], Path(file).read_text().count("Kept")]
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


def test_the_script_is_main_under_its_absolute_name_also_after_a_chdir(
    tmp_path: Path, run_program: RunProgram
) -> None:
    copy, seen = tmp_path / "copy", tmp_path / "seen"
    (copy / "src").mkdir(parents=True)
    file = copy / "src" / "train.py"
    file.write_text(PROGRAM)
    with pytest.raises(CannotVerify, match="without one update"):
        # As with a script in /tmp: the copy is below the folder of the original.
        run_program(copy, "src/train.py", str(seen), original=tmp_path)
    argv = ["src/train.py", str(seen)]
    assert json.loads(seen.read_text()) == ["__main__", str(file), argv, str(file.parent), 3]


def test_the_sitecustomize_that_ours_hides_runs_too(
    tmp_path: Path, run_program: RunProgram, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = tmp_path / "seen"
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / "sitecustomize.py").write_text(f"open({str(seen)!r}, 'a').write('hidden ')")
    (tmp_path / "train.py").write_text(
        f"import sitecustomize; open({str(seen)!r}, 'a').write(sitecustomize.__file__)"
    )
    monkeypatch.setenv("PYTHONPATH", f"{hidden}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    with pytest.raises(CannotVerify, match="without one update"):
        run_program(tmp_path, "train.py")
    assert seen.read_text() == f"hidden {hidden / 'sitecustomize.py'}"


def test_no_warning_that_is_asked_for_outside_stops_the_migrated_program(
    tmp_path: Path, run_program: RunProgram, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TFEXPLICIT_WARN", "error")
    (tmp_path / "train.py").write_text(
        "import os, sys\nopen(sys.argv[1], 'w').write(os.environ.get('TFEXPLICIT_WARN', 'none'))"
    )
    with pytest.raises(CannotVerify, match="without one update"):
        run_program(tmp_path, "train.py", str(tmp_path / "seen"))
    assert (tmp_path / "seen").read_text() == "none"


DRAWS = """\
import random, sys
import numpy as np
import tensorflow as tf

draws = [np.random.default_rng().normal() for _ in range(2)]
unseeded = tf.random.Generator.from_non_deterministic_state()
for generator in (tf.random.get_global_generator(), unseeded):
    draws += generator.normal((2,)).numpy().tolist()
draws.append(random.random())
open(sys.argv[1], "a").write(f"{draws}\\n")
"""


def test_generators_that_ask_the_system_for_a_seed_draw_the_same_in_every_run(
    tmp_path: Path, run_program: RunProgram
) -> None:
    (tmp_path / "train.py").write_text(DRAWS)
    out = tmp_path / "out"
    for _ in range(2):
        with pytest.raises(CannotVerify, match="without one update"):
            run_program(tmp_path, "train.py", str(out))
    first, second = (json.loads(line) for line in out.read_text().splitlines())
    assert first == second
    assert first[0] != first[1]


SUMS = """\
import sys
import tensorflow as tf

x = tf.random.normal((1000,))

def summed(with_another_op):
    @tf.function
    def step(x):
        rest = tf.sin(x, name="z") if with_another_op else x
        return tf.add_n([tf.sin(x, name="a"), tf.cos(x, name="b"), tf.tanh(x, name="c")]), rest
    return step(x)[0]

def differ():
    return bool(tf.reduce_any(summed(True) != summed(False)))

here = differ()
tf.config.optimizer.set_experimental_options({"arithmetic_optimization": True})
open(sys.argv[1], "w").write(f"{here} {differ()}")
"""


def test_sums_are_rounded_alike_whatever_else_a_graph_has(
    tmp_path: Path, run_program: RunProgram
) -> None:
    (tmp_path / "train.py").write_text(SUMS)
    with pytest.raises(CannotVerify, match="without one update"):
        run_program(tmp_path, "train.py", str(tmp_path / "seen"))
    # The second of them is what TensorFlow does where it is not told otherwise.
    assert (tmp_path / "seen").read_text() == "False True"


def one_update(program: Program, norm: float) -> Trajectory:
    """What a run of STEP could have recorded."""
    leaf = Leaf("leaf", 1, (), "float32", int(norm), norm, *[0.0] * 8)
    return Trajectory([Update(1, (Gradient(1.0, 1.0),), (leaf,))], loaded=[program.command[1]])


@pytest.fixture
def step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "train.py").write_text(STEP)
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("step")
def test_both_programs_run_in_a_folder_of_the_same_name(monkeypatch: pytest.MonkeyPatch) -> None:
    ran = []

    def fake_run(program: Program, request: Request, timeout: float | None) -> Trajectory:
        assert program.working_directory.is_relative_to(request.copy)
        source = (program.working_directory / program.command[1]).read_text()
        ran.append((request.copy, program.working_directory, "tx.update" in source))
        return one_update(program, 1.0)

    monkeypatch.setattr(process, "run", fake_run)
    assert main(["verify", "train.py"]) == 0
    before, after = ran
    assert before[:2] == after[:2]
    assert (before[2], after[2]) == (False, True)


@pytest.mark.usefixtures("step")
@pytest.mark.parametrize(
    ("norms", "code", "message"),
    [
        ({"before": 1.0, "after": 2.0, "before, again": 1.0}, 1, "trained as it did the first"),
        ({"before": 1.0, "after": 2.0, "before, again": 3.0}, 3, "norm of leaf leaf was 1, then 3"),
    ],
)
def test_a_difference_counts_only_if_the_program_does_not_differ_from_itself(
    norms: dict[str, float],
    code: int,
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(
        process, "run", lambda program, *_: one_update(program, norms[program.name])
    )
    assert main(["verify", "train.py"]) == code
    assert message in "".join(capsys.readouterr()).replace("\n", " ")


WAITS = """\
import json, os, time
from pathlib import Path
from tfexplicit_codemod.verify.limit import Limit

records = json.loads(os.environ["TFEXPLICIT_VERIFY"])["records"]
Limit(1, Path(records)).count(1)
time.sleep(600)
"""


def test_a_program_that_waits_after_its_last_update_is_ended(
    tmp_path: Path, run_program: RunProgram, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Here its worker, whose record is not there, is what has made the updates."""
    monkeypatch.setattr(process, "SECONDS_TO_END", 0)
    (tmp_path / "train.py").write_text(WAITS)
    with pytest.raises(CannotVerify, match="after 0 updates"):
        run_program(tmp_path, "train.py", steps=1)


@pytest.mark.parametrize(
    ("name", "flags", "noted"),
    [
        ("/home/me/model.h5", os.O_WRONLY | os.O_CREAT, True),
        ("/home/me/model.h5", os.O_RDONLY, False),
        ("/w/project/out.txt", os.O_WRONLY, False),
        ("/w/temporary", os.O_RDWR, False),
        ("/w/records/1.jsonl", os.O_WRONLY, False),
        ("/w/project-2/out.txt", os.O_WRONLY, True),
        ("/dev/null", os.O_WRONLY, False),
    ],
)
def test_files_written_outside_of_the_copy_are_noted_once(
    name: str, flags: int, noted: bool
) -> None:
    notes: list[str] = []
    request = Request("/w/records", "/w/project", "/project", [], "/w/temporary", None)
    outside = Outside(request, notes.append)
    for _ in range(2):
        outside.audit("open", (name, "w", flags))
    assert notes == [f"the program writes outside of its copy: {name}"] * noted
