"""What a crash, a full disk, links, modes and odd paths may not do to the files of a project."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tfexplicit_codemod.cli import main

CODEMOD = Path(__file__).parents[3] / "codemod"
Capture = pytest.CaptureFixture[str]


def run_with(before: str, project: Path) -> subprocess.CompletedProcess[str]:
    """`tfexplicit migrate train.py` in a process of its own, which first runs `before`."""
    program = f"import os, resource, signal, sys\nfrom tfexplicit_codemod.cli import main\n{before}"
    return subprocess.run(
        [sys.executable, "-c", f"{program}\nsys.exit(main(['migrate', 'train.py']))"],
        cwd=project,
        env=os.environ | {"PYTHONPATH": str(CODEMOD)},
        capture_output=True,
        text=True,
        check=False,
    )


HALF_WRITTEN = """
fdopen = os.fdopen
class Half:
    def __init__(self, *arguments): self.stream = fdopen(*arguments)
    def __enter__(self): return self
    def __exit__(self, *_): ...
    def write(self, data):
        self.stream.write(data[:50])
        self.stream.flush()
        os.kill(os.getpid(), signal.SIGKILL)
os.fdopen = Half
"""
NOT_YET_REPLACED = """
from pathlib import Path
Path.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize(
    "killed", [HALF_WRITTEN, NOT_YET_REPLACED], ids=["half written", "not yet replaced"]
)
def test_bug_01_a_kill_at_any_moment_leaves_a_whole_file(
    killed: str, project: Path, implicit: str
) -> None:
    assert run_with(killed, project).returncode == -signal.SIGKILL
    assert (project / "train.py").read_text() == implicit
    # What the dead process left behind is no Python file: the next run does not see it.
    assert main(["migrate", "."]) == 0
    assert "tx.update" in (project / "train.py").read_text()
    assert sorted(path.name for path in project.rglob("*.py")) == ["train.py", "vendored.py"]


def test_bug_02_a_full_disk_leaves_the_file_and_says_so(project: Path, implicit: str) -> None:
    """The kernel itself refuses to write more than 100 bytes to a file."""
    done = run_with("resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))", project)
    assert done.returncode == 3
    assert (
        "train.py: failed: cannot be written: File too large; the file is as it was" in done.stdout
    )
    assert (project / "train.py").read_text() == implicit
    assert sorted(path.name for path in project.iterdir()) == ["lib", "train.py"]


def test_bug_02_closed_streams_are_no_traceback(project: Path) -> None:
    run = f"{sys.executable} -m tfexplicit_codemod check"
    environment = os.environ | {"PYTHONPATH": str(CODEMOD)}
    for command, code, message in (
        (f"{run} - <&-", 2, "tfexplicit: -: stdin is closed; it must hold the program\n"),
        (f"{run} train.py >&-", 1, ""),
    ):
        done = subprocess.run(
            command, shell=True, env=environment, capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stderr) == (code, message)


@pytest.mark.skipif(
    not Path("/dev/full").exists(), reason="only Linux has this device, which is always full"
)
def test_bug_02_a_report_that_cannot_be_printed_is_no_traceback(project: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "tfexplicit_codemod", "check", "."],
            env=os.environ | {"PYTHONPATH": str(CODEMOD)},
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 3
    assert done.stderr == "tfexplicit: [Errno 28] No space left on device\n"


def test_bug_09_a_file_that_needs_nothing_is_not_touched(project: Path) -> None:
    files = {
        "windows.py": b"x = 1\r\ny = 2\r\n",
        "mixed.py": b"x = 1\r\ny = 2\ny = 3\r",
        "trap.py": b"state.apply_gradients(grads=g)\r\n",
        "mark.py": b"\xef\xbb\xbfx = 1",
        "__init__.py": b"",
        "spaces.py": b"x = 1  \n\n\n\n",
    }
    for name, text in files.items():
        (project / name).write_bytes(text)
        os.utime(project / name, (1, 1))
    inodes = {name: (project / name).stat().st_ino for name in files}
    assert main(["migrate", "."]) == 0
    for name, text in files.items():
        status = (project / name).stat()
        assert ((project / name).read_bytes(), status.st_mtime) == (text, 1)
        assert status.st_ino == inodes[name]


def test_bug_14_links_stay_links_and_lead_nowhere_else(
    project: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (outside / "other.py").write_text((project / "train.py").read_text())
    (project / "same.py").symlink_to("train.py")
    (project / "out.py").symlink_to(outside / "other.py")
    (project / "out").symlink_to(outside)
    (project / "loop.py").symlink_to("loop.py")
    (project / "loop").symlink_to(".")
    (project / "gone.py").symlink_to("nowhere.py")
    (project / "train.py").chmod(0o755)
    before = (outside / "other.py").read_text()
    assert main(["migrate", "."]) == 0
    assert (outside / "other.py").read_text() == before
    assert (project / "train.py").read_text().count("tx.update") == 1
    assert (project / "train.py").stat().st_mode & 0o777 == 0o755
    links = ("same.py", "out.py", "out", "loop.py", "loop", "gone.py")
    assert all((project / name).is_symlink() for name in links)
    # A link that is named is written through.
    assert main(["migrate", "out.py"]) == 0
    assert "tx.update" in (outside / "other.py").read_text()
    assert (project / "out.py").is_symlink()


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755, 0o4755])
def test_bug_15_the_mode_stays(mode: int, project: Path) -> None:
    (project / "train.py").chmod(mode)
    assert main(["migrate", "train.py"]) == 0
    assert "tx.update" in (project / "train.py").read_text()
    assert (project / "train.py").stat().st_mode & 0o7777 == mode


@pytest.mark.parametrize(
    "path",
    [".", "./", "../{root}", "{absolute}", "{absolute}/", "lib/..", "été/le modèle/../..", "*"],
)
def test_bug_44_any_spelling_of_a_path(path: str, project: Path, implicit: str) -> None:
    odd = project / "été" / "le modèle" / "a b.py"
    odd.parent.mkdir(parents=True)
    odd.write_text(implicit)
    paths = (
        [name.name for name in project.iterdir()]
        if path == "*"
        else [path.format(root=project.name, absolute=project)]
    )
    assert main(["migrate", *paths]) == 0
    files = [odd, project / "train.py", project / "lib" / "vendored.py"]
    assert all(file.read_text().count("tx.update") == 1 for file in files)


def test_bug_44_a_name_of_the_greatest_length(project: Path, implicit: str) -> None:
    name = "n" * 252 + ".py"
    (project / name).write_text(implicit)
    assert main(["migrate", name]) == 0
    assert "tx.update" in (project / name).read_text()


def test_bug_44_a_path_that_is_given_twice_counts_once(project: Path, capsys: Capture) -> None:
    assert main(["migrate", "train.py", "./train.py", ".", str(project / "train.py")]) == 0
    assert "2 files: 2 changed" in capsys.readouterr().out


def test_bug_44_from_the_root_folder(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/")
    assert main(["migrate", str(project)]) == 0
    assert "tx.update" in (project / "train.py").read_text()


def test_bug_51_without_git_nothing_is_asked_of_it(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert main(["migrate", "."]) == 0
    assert "tx.update" in (project / "train.py").read_text()


def test_bug_52_no_formatter_is_run(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    """One that is there is not called, and one that is not there is not missed."""
    tools = project / "tools"
    tools.mkdir()
    for name in ("black", "ruff", "isort", "yapf", "autopep8"):
        (tools / name).write_text("#!/bin/sh\necho called >&2\ntouch called\n")
        (tools / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tools))
    assert main(["migrate", "train.py"]) == 0
    out, err = capsys.readouterr()
    assert "run your formatter" in out
    assert err == ""
    assert not (project / "called").exists()


def test_bug_58_success_is_0_and_only_check_and_diff_say_1(project: Path) -> None:
    assert main(["check", "."]) == 1
    assert main(["diff", "."]) == 1
    assert main(["migrate", "."]) == 0
    assert main(["check", "."]) == 0
    assert main(["diff", "."]) == 0
