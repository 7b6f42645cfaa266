"""`verify` on whole programs, each in its own process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tfexplicit_codemod.cli import main
from tfexplicit_codemod.errors import CannotVerify
from tfexplicit_codemod.outcome import FileResult, Outcome
from tfexplicit_codemod.verify import project as project_module
from tfexplicit_codemod.verify.project import Project, find_project
from tfexplicit_codemod.verify.records import Trajectory
from tfexplicit_codemod.verify.verdict import changes_in

ROOT = Path(__file__).parents[2]

# The step is not called, so that these programs need no TensorFlow to run.
REWRITTEN_BUT_NOT_RUN = """\
def train():
    import tensorflow as tf
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    optimizer = tf.keras.optimizers.SGD(0.1)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(tf.ones((2, 2))) ** 2)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))

"""

TRAIN = """\
import sys
from pathlib import Path

import tensorflow as tf
from lib.model import make_model

data = [float(line) for line in Path("data.txt").read_text().split()]
x = tf.reshape(tf.constant(data), (-1, 2))
model = make_model()
optimizer = tf.keras.optimizers.Adam(1e-2)

@tf.function
def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x, training=True) - 1.0) ** 2)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))

for _ in range(int(sys.argv[sys.argv.index("--steps") + 1])):
    step(x + tf.random.normal(x.shape))
Path("out.txt").write_text("done")
assert Path("lib").is_dir() and __name__ == "__main__" and sys.argv[0] == "train.py"
"""

MODEL = """\
import tensorflow as tf

def make_model():
    layers = tf.keras.layers
    return tf.keras.Sequential(
        [layers.Input((2,)), layers.Dense(8), layers.Dropout(0.5), layers.Dense(1)]
    )
"""

Capture = pytest.CaptureFixture[str]
Runner = Callable[..., Trajectory]


def test_a_project_trains_the_same_and_is_not_touched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Capture
) -> None:
    files = {"train.py": TRAIN, "lib/model.py": MODEL, "data.txt": "1 2 3 4 5 6 7 8\n"}
    files |= {"lib/__init__.py": "", ".gitignore": "big\n", "big": "ignored", "other.py": TRAIN}
    (tmp_path / "lib").mkdir()
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    # As if the project were installed in editable mode: the copy must be imported all the same.
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), *sys.path]))
    monkeypatch.chdir(tmp_path)
    assert main(["verify", "train.py", "--", "--steps", "4"]) == 0
    out = capfd.readouterr().out
    assert "+    tx.update(opt_state, model, grads)" in out
    assert "4 updates of 4 leaves are equal" in out
    assert "After: 4 updates, " in out
    assert "Not proven by this run, which does not load them: other.py" in out
    left = {
        path.relative_to(tmp_path).as_posix(): path.read_text()
        for path in tmp_path.rglob("*")
        if path.is_file() and ".git" not in path.parts
    }
    assert left == files


def script(folder: Path, text: str) -> str:
    file = folder / "train.py"
    file.write_text(REWRITTEN_BUT_NOT_RUN + text)
    return str(file)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("raise RuntimeError('no data here')", "before crashed (exit code 1) after 0 updates"),
        ("import os; os._exit(0)", "before crashed (it left without running Python's exit"),
        ("import os; os.kill(os.getpid(), 9)", "before crashed (signal 9)"),
        ("print('nothing')", "before ended without one update"),
    ],
)
def test_a_program_that_cannot_be_compared(
    text: str, message: str, tmp_path: Path, capsys: Capture
) -> None:
    assert main(["verify", script(tmp_path, text)]) == 3
    err = capsys.readouterr().err
    assert message in err
    if "RuntimeError" in text:
        assert err.rstrip().endswith("RuntimeError: no data here")


def test_a_program_that_imports_the_original(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "lib.py").write_text("")
    text = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import lib"
    assert main(["verify", script(tmp_path, text)]) == 3
    assert f"imported {tmp_path / 'lib.py'}, which is the original" in capsys.readouterr().err


def test_nothing_to_rewrite(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "train.py").write_text("print('hello')\n")
    (tmp_path / "bad.py").write_text("optimizer.apply_gradients(\n")
    assert main(["verify", str(tmp_path / "train.py")]) == 3
    err = capsys.readouterr().err
    assert "nothing was rewritten" in err
    assert "bad.py:1:" in err


def test_a_rewrite_that_the_program_does_not_load_proves_nothing() -> None:
    results = [
        FileResult(Path("train.py"), Outcome.UNCHANGED),
        FileResult(Path("other.py"), Outcome.CHANGED, before=b"a", after=b"b"),
    ]
    with pytest.raises(CannotVerify, match=r"no file that this program loads .* other\.py"):
        changes_in(results, Trajectory(loaded=["train.py"]))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupt_leaves_no_process_and_no_folder(number: int, tmp_path: Path) -> None:
    temporary, work = tmp_path / "tmp", tmp_path / "work"
    temporary.mkdir()
    work.mkdir()
    pids = tmp_path / "pids"
    text = f"""\
import os, subprocess, sys, time
sleep = [sys.executable, "-c", "import time; time.sleep(600)"]
child = subprocess.Popen(sleep, start_new_session=True)
with open({str(pids)!r}, "w") as file:
    file.write(f"{{os.getpid()}} {{child.pid}} ")
time.sleep(600)
"""
    verify = subprocess.Popen(
        [sys.executable, "-m", "tfexplicit_codemod", "verify", script(work, text)],
        env=os.environ
        | {"PYTHONPATH": f"{ROOT / 'codemod'}{os.pathsep}{ROOT}", "TMPDIR": str(temporary)},
        # Whoever runs the tests may have it ignored, as `nohup` does.
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),
    )
    try:
        wait_until(lambda: pids.exists() and pids.read_text().count(" ") == 2)
        verify.send_signal(number)
        assert verify.wait() == 130
    finally:
        verify.kill()
    for pid in map(int, pids.read_text().split()):
        wait_until(lambda pid=pid: not is_running(pid))
    assert list(temporary.iterdir()) == []


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def test_the_project_is_copied_with_links_modes_and_data(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    for folder in (root / "pkg", root / "venv", root / "build", outside):
        folder.mkdir(parents=True)
    (root / "train.py").write_text("")
    (root / "train.py").chmod(0o755)
    (root / "build" / "data.bin").write_bytes(b"\0")
    (root / "venv" / "pyvenv.cfg").write_text("")
    (root / "inner").symlink_to("build/data.bin")
    (root / "absolute").symlink_to(root / "build")
    (root / "outer").symlink_to("../outside")
    project = find_project(root / "train.py", without=tmp_path)
    copy = tmp_path / "copy"
    project.copy_to(copy)
    names = ["absolute", "build", "inner", "outer", "train.py"]
    assert sorted(path.name for path in copy.iterdir()) == names
    assert (copy / "train.py").stat().st_mode & 0o777 == 0o755
    assert (copy / "inner").resolve() == copy / "build" / "data.bin"
    assert (copy / "absolute").resolve() == copy / "build"
    assert (copy / "outer").resolve() == outside


def test_a_project_that_is_too_large_is_refused_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(project_module, "LARGEST_COPY", 10)
    (tmp_path / "train.py").write_text("")
    (tmp_path / "weights.h5").write_text("x" * 11)
    with pytest.raises(CannotVerify, match=r"in 2 files.*The largest is .*weights\.h5"):
        find_project(tmp_path / "train.py", without=tmp_path / "none")


def test_a_file_that_cannot_be_copied_is_named(tmp_path: Path) -> None:
    project = Project(tmp_path, (Path("gone.bin"),), Path("train.py"))
    with pytest.raises(CannotVerify, match=r"gone\.bin cannot be copied: No such file"):
        project.copy_to(tmp_path / "copy")
