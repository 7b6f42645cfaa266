"""What `verify` can run, and against what: modules, tests, worker processes, a revision of git."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from tfexplicit_codemod.cli import main

Capture = pytest.CaptureFixture[str]

STEP = """\
import tensorflow as tf

leaf = tf.Variable([1.0, 2.0], name="leaf")
optimizer = tf.keras.optimizers.Adam(0.1)


def step():
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(leaf**2)
    optimizer.apply_gradients(zip(tape.gradient(loss, [leaf]), [leaf]))
"""

# No process but the worker imports TensorFlow, and the worker does not end by itself.
TEST = """\
import multiprocessing


def work():
    from package.model import step

    while True:
        step()


def test_step():
    worker = multiprocessing.get_context("fork").Process(target=work, name="Worker-1")
    worker.start()
    worker.join()
    assert worker.exitcode == 0
"""

MODULE = """\
from package.model import step

step()
step()
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def package(here: Path) -> Path:
    """In a checkout with one commit."""
    folder = here / "package"
    folder.mkdir()
    (folder / "__init__.py").touch()
    (folder / "model.py").write_text(STEP)
    (folder / "train.py").write_text(MODULE)
    (here / "test_train.py").write_text(TEST)
    commit(here)
    return folder


def commit(folder: Path) -> None:
    identity = ["-c", "user.name=Reader", "-c", "user.email=reader@example.org"]
    for command in (["init", "-q"], ["add", "-A"], [*identity, "commit", "-qm", "all"]):
        subprocess.run(["git", "-C", folder, *command], check=True)


def state_of(folder: Path) -> tuple[bytes, list[Path]]:
    status = subprocess.run(["git", "-C", folder, "status", "--porcelain"], capture_output=True)
    return status.stdout, sorted(path for path in folder.rglob("*") if ".git" not in path.parts)


def test_the_worker_of_a_test_against_a_revision(
    package: Path, tmp_path_factory: pytest.TempPathFactory, capfd: Capture
) -> None:
    """Migrated by hand: a helper is new since, and not committed yet."""
    assert main(["migrate", "package"]) == 0
    migrated = (package / "model.py").read_text().replace("0.1", "RATE")
    (package / "model.py").write_text(f"from package.helper import RATE\n{migrated}")
    (package / "helper.py").write_text("RATE = 0.1\n")
    capfd.readouterr()
    before, out = state_of(package), tmp_path_factory.mktemp("reports")
    options = ["--baseline", "HEAD", "--steps", "3", "--timeout", "300", "--json", "-"]
    files = ["--html", str(out / "report.html"), "--plot", str(out / "report.svg")]
    assert main(["verify", *options, *files, "--", "pytest", "-q", "test_train.py"]) == 0
    report = json.loads(capfd.readouterr().out)
    assert report["verdict"] == "equal bit for bit"
    assert report["files"] == ["package/model.py"]
    places = [(update["process"], update["index"]) for update in report["updates"]]
    assert places == [("Worker-1", index) for index in (1, 2, 3)]
    assert report["updates"][0]["loss"] == [5.0, 5.0]
    assert [leaf["name"] for leaf in report["updates"][0]["leaves"]] == ["leaf:0"]
    assert "from package.helper import RATE" in (out / "report.html").read_text()
    assert (out / "report.svg").stat().st_size
    assert state_of(package) == before


@pytest.mark.slow
def test_a_module(package: Path, capfd: Capture) -> None:
    assert main(["verify", "-m", "package.train"]) == 0
    out = capfd.readouterr().out
    assert "+tx.update" in out.replace("+    ", "+")
    assert "2 updates of 1 leaves are equal bit for bit" in out


@pytest.mark.parametrize(
    ("revision", "script", "code", "said"),
    [
        ("HEAD", "train.py", 3, "no source differs between revision HEAD and this checkout"),
        ("HEAD", "new.py", 3, "revision HEAD has no new.py, so it cannot be run"),
        ("nowhere", "train.py", 2, "git cannot read revision nowhere"),
    ],
)
def test_a_revision_that_cannot_be_compared(
    revision: str, script: str, code: int, said: str, here: Path, capsys: Capture
) -> None:
    (here / "train.py").write_text("pass\n")
    commit(here)
    (here / script).write_text("pass\n")
    subprocess.run(["git", "-C", here, "add", script], check=True)
    assert main(["verify", script, "--baseline", revision]) == code
    assert said in capsys.readouterr().err


def test_a_program_that_does_not_end_in_time(here: Path, capsys: Capture) -> None:
    (here / "train.py").write_text("import time\ntime.sleep(600)\n" + STEP)
    assert main(["verify", "train.py", "--timeout", "0.5", "--json", "report.json"]) == 3
    said = "the program before did not end within 0.5 s (--timeout), after 0 updates."
    assert said in capsys.readouterr().err
    assert said in json.loads((here / "report.json").read_text())["text"][0]


NOT_DETERMINISTIC = {
    "system": "int.from_bytes(__import__('os').urandom(2), 'little')",
    "time": "__import__('time').time_ns() % 10**6",
    "file left behind": "left_behind()",
}


@pytest.mark.slow
@pytest.mark.parametrize("source", NOT_DETERMINISTIC)
def test_a_program_that_differs_from_itself(source: str, here: Path, capfd: Capture) -> None:
    kept = here.parent / f"{here.name}.count"
    (here / "train.py").write_text(
        f"""\
from pathlib import Path

def left_behind():
    file = Path({str(kept)!r})
    file.write_text((file.read_text() if file.exists() else "") + "1")
    return len(file.read_text())

drawn = {NOT_DETERMINISTIC[source]}
{STEP.replace("leaf**2", "leaf**2 * drawn + leaf")}
step()
step()
"""
    )
    assert main(["verify", "train.py"]) == 3
    out = capfd.readouterr().out
    assert "the program before is not deterministic" in out
    assert ("writes outside of its copy" in out) == (source == "file left behind")
