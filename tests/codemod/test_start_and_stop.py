"""How the command starts and how it is stopped."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tfexplicit_codemod import write
from tfexplicit_codemod.cli import main
from tfexplicit_codemod.version import VERSION

ROOT = Path(__file__).parents[2]
INTERRUPTED = b"tfexplicit: interrupted; every file is whole, as it was or migrated"

Capture = pytest.CaptureFixture[str]
Patch = pytest.MonkeyPatch


def command_line(*arguments: str, how: str = "tfexplicit_codemod") -> list[str]:
    return [sys.executable, "-m", how, *arguments]


def environment() -> dict[str, str]:
    return os.environ | {"PYTHONPATH": str(ROOT / "codemod"), "NO_COLOR": "1"}


def test_version(capsys: Capture) -> None:
    with pytest.raises(SystemExit) as exit:
        main(["--version"])
    assert exit.value.code == 0
    assert capsys.readouterr().out == f"tfexplicit {VERSION}\n"


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["check", "train.py"], ["x"]])
def test_a_checkout_and_the_installed_command_do_the_same(
    arguments: list[str], project: Path
) -> None:
    entry_point = "import sys; from tfexplicit_codemod.cli import main; sys.exit(main())"
    ways = [
        [sys.executable, "-c", entry_point, *arguments],
        command_line(*arguments),
        [sys.executable, str(ROOT / "codemod"), *arguments],
    ]
    done = [
        subprocess.run(way, env=environment(), capture_output=True, check=False) for way in ways
    ]
    assert len({(each.returncode, each.stdout, each.stderr) for each in done}) == 1, done


def test_help_imports_only_what_it_needs() -> None:
    heavy = "{'rich', 'libcst', 'ast', 'pathspec', 'importlib.metadata', 'concurrent.futures'}"
    program = (
        "import sys; from tfexplicit_codemod.cli import main\n"
        "try: main(['--help'])\n"
        f"finally: print({heavy} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", program], env=environment(), capture_output=True, text=True
    )
    assert done.stdout.endswith("set()\n"), done


def test_a_check_that_finds_nothing_imports_neither_rich_nor_libcst(project: Path) -> None:
    (project / "empty.py").write_text("")
    program = (
        "import sys; from tfexplicit_codemod.cli import main\n"
        "assert main(['check', 'empty.py']) == 0\n"
        "print({'rich', 'libcst', 'pathspec', 'tomllib'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment(), capture_output=True, text=True
    )
    assert done.stdout.endswith("set()\n"), done


def test_ctrl_c_says_one_line(project: Path) -> None:
    with subprocess.Popen(
        command_line("check", "-"),
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdin
        process.stdin.write(b"x" * 200_000)  # more than a pipe holds: it has begun to read
        process.stdin.flush()
        time.sleep(1)  # and waits for more
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert (out, err.strip().splitlines()) == (b"", [INTERRUPTED])


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="reads /proc of Linux")
def test_ctrl_c_ends_the_other_processes_too(project: Path, implicit: str) -> None:
    for number in range(40):
        (project / f"long{number}.py").write_text(implicit + "x = 1\n" * 3000)
    program = (
        "import sys; from tfexplicit_codemod import cli, migration\n"
        "migration.WORTH_A_POOL = 0\n"
        "sys.exit(cli.main(['check', '.', '--jobs', '2']))"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        while len(children.read_text().split()) < 2:
            assert process.poll() is None
            time.sleep(0.01)
        time.sleep(0.5)  # in the middle of the work
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert (out, err.strip().splitlines()) == (b"", [INTERRUPTED])


def test_ctrl_c_leaves_whole_files(project: Path, monkeypatch: Patch, implicit: str) -> None:
    """In the middle of writing the second file."""
    calls = []

    def interrupt(descriptor: int) -> None:
        calls.append(descriptor)
        if len(calls) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(write.os, "fsync", interrupt)
    assert main(["migrate", "."]) == 130
    assert "tx.update" in (project / "lib" / "vendored.py").read_text()
    assert (project / "train.py").read_text() == implicit
    assert sorted(path.name for path in project.iterdir()) == ["lib", "train.py"]
