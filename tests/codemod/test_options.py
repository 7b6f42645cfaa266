"""The options of the commands, and their keys in pyproject.toml."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tfexplicit_codemod import git, migration, write
from tfexplicit_codemod.cli import main
from tfexplicit_codemod.version import VERSION

ROOT = Path(__file__).parents[2]
IMPLICIT = """\
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.SGD(0.1)

def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x) - y) ** 2)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
"""
UNPROVEN = """\
import tensorflow as tf

def step(get, grads, model):
    get().apply_gradients(zip(grads, model.trainable_variables))
    tf.GradientTape
"""
INTERRUPTED = b"tfexplicit: interrupted; every file is whole, as it was or migrated"

Capture = pytest.CaptureFixture[str]
Patch = pytest.MonkeyPatch


@pytest.fixture
def project(tmp_path: Path, monkeypatch: Patch) -> Path:
    (tmp_path / "lib").mkdir()
    (tmp_path / "train.py").write_text(IMPLICIT)
    (tmp_path / "lib" / "vendored.py").write_text(IMPLICIT)
    monkeypatch.chdir(tmp_path)
    git.checkout_of.cache_clear()
    return tmp_path


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


@pytest.mark.parametrize(
    "options",
    [
        ["--exclude", "lib/"],
        ["--exclude", "vendored.py", "--exclude", "nothing"],
        ["--exclude", "*", "--exclude", "!train.py"],
    ],
)
def test_exclude(options: list[str], project: Path, capsys: Capture) -> None:
    assert main(["migrate", *options, "."]) == 0
    assert "tx.update" in (project / "train.py").read_text()
    assert (project / "lib" / "vendored.py").read_text() == IMPLICIT
    assert "1 file: 1 changed" in capsys.readouterr().out


def test_what_is_excluded_is_not_touched_even_if_it_is_named(project: Path) -> None:
    """A pre-commit hook names every file."""
    assert main(["migrate", "train.py", "lib/vendored.py", "--exclude", "lib"]) == 0
    assert (project / "lib" / "vendored.py").read_text() == IMPLICIT


@pytest.mark.parametrize("spelling", [["TX101,tx104"], ["TX101", "--select", "TX104"]])
def test_select(spelling: list[str], project: Path) -> None:
    assert main(["migrate", "train.py", "--select", *spelling]) == 0
    text = (project / "train.py").read_text()
    assert "tx.update" in text
    assert "tx.trainables" in text
    assert "tf.keras.optimizers.SGD" in text


def test_ignore(project: Path, capsys: Capture) -> None:
    assert main(["check", "train.py", "--ignore", "TX101"]) == 0
    assert "0 sites: 0 can be rewritten, 0 left, 1 ignored" in capsys.readouterr().out


@pytest.mark.parametrize("option", ["--select", "--ignore"])
def test_an_unknown_code_is_a_usage_error(option: str, project: Path, capsys: Capture) -> None:
    assert main(["check", "train.py", option, "TX1O1"]) == 2
    error = capsys.readouterr().err
    assert f"{option}: TX1O1 is not a code. Did you mean " in error
    assert "TX101" in error


@pytest.mark.parametrize("number", ["0", "-1", "two", "1.5"])
def test_a_wrong_number_of_jobs(number: str, project: Path, capsys: Capture) -> None:
    with pytest.raises(SystemExit) as exit:
        main(["check", ".", "--jobs", number])
    assert exit.value.code == 2
    assert "is not a number of processes: 1 or more" in capsys.readouterr().err


def test_jobs_give_the_same_report(project: Path, capsys: Capture, monkeypatch: Patch) -> None:
    monkeypatch.setattr(migration, "WORTH_A_POOL", 0)
    (project / "bad.py").write_text("optimizer.apply_gradients(\n")
    (project / "other.py").write_text("")
    reports = []
    for jobs in ("1", "2"):
        assert main(["check", ".", "--format", "json", "--jobs", jobs]) == 3
        reports.append(capsys.readouterr().out)
    assert reports[0] == reports[1]
    assert '"files": 4' in reports[0]


def configure(project: Path, text: str) -> None:
    (project / "pyproject.toml").write_text(f"[tool.tfexplicit]\n{text}\n")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('exclude = ["lib"]', "1 site: 1 can be rewritten, 0 left\n"),
        ('ignore = ["tx101"]', "0 sites: 0 can be rewritten, 0 left, 2 ignored"),
        ('select = ["TX102", "TX103"]', "0 sites: 0 can be rewritten, 0 left, 2 ignored"),
    ],
)
def test_keys_of_pyproject(text: str, said: str, project: Path, capsys: Capture) -> None:
    configure(project, text)
    main(["check", "."])
    assert said in capsys.readouterr().out


def test_todo_of_pyproject(project: Path) -> None:
    configure(project, "todo = false")
    (project / "unproven.py").write_text(UNPROVEN)
    assert main(["migrate", "unproven.py"]) == 0
    assert (project / "unproven.py").read_text() == UNPROVEN


def test_an_option_takes_the_place_of_its_key(project: Path, capsys: Capture) -> None:
    configure(project, 'ignore = ["TX101"]\nexclude = ["lib"]')
    main(["check", ".", "--ignore", "TX102", "--exclude", "nothing"])
    assert "2 sites: 2 can be rewritten" in capsys.readouterr().out


def test_the_nearest_pyproject_with_our_table_counts(
    project: Path, capsys: Capture, monkeypatch: Patch
) -> None:
    configure(project, 'exclude = ["vendored.py"]')
    (project / "lib" / "pyproject.toml").write_text("[tool.other]\nkey = 1\n")
    monkeypatch.chdir("/")
    main(["check", str(project / "lib")])
    assert "0 files" in capsys.readouterr().out


def test_a_pyproject_above_the_checkout_does_not_count(project: Path, capsys: Capture) -> None:
    configure(project, 'exclude = ["lib"]')
    subprocess.run(["git", "init", "-q", project / "lib"], check=True)
    main(["check", "lib/vendored.py"])
    assert "1 site: 1 can be rewritten" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('exlude = ["lib"]', "[tool.tfexplicit] has no key 'exlude'. Did you mean exclude?"),
        ('exclude = "lib"', "exclude is 'lib', expected a list of strings"),
        ("exclude = [1]", "exclude is [1], expected a list of strings"),
        ("todo = 1", "todo is 1, expected true or false"),
        ('select = ["TX1O1"]', "select: TX1O1 is not a code. Did you mean "),
        ("todo =", "not valid TOML: "),
    ],
)
def test_a_wrong_pyproject_is_a_usage_error(
    text: str, message: str, project: Path, capsys: Capture
) -> None:
    configure(project, text)
    assert main(["check", "."]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert "pyproject.toml" in error


def given(text: str, monkeypatch: Patch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))


def test_migrate_stdin(
    project: Path, capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: Patch
) -> None:
    assert main(["migrate", "train.py", "--quiet"]) == 0
    given(IMPLICIT, monkeypatch)
    assert main(["migrate", "-"]) == 0
    out, err = capsysbinary.readouterr()
    assert out == (project / "train.py").read_bytes()
    assert b"1 site: 1 rewritten, 0 left" in err


@pytest.mark.parametrize(
    ("source", "code"), [("print(1)\r\n", 0), ("o.apply_gradients(\n", 3)], ids=["none", "failed"]
)
def test_stdin_comes_back_where_there_is_nothing_to_write(
    source: str,
    code: int,
    project: Path,
    capsysbinary: pytest.CaptureFixture[bytes],
    monkeypatch: Patch,
) -> None:
    given(source, monkeypatch)
    assert main(["migrate", "-"]) == code
    assert capsysbinary.readouterr().out == source.encode()


def test_check_and_diff_stdin(project: Path, capsys: Capture, monkeypatch: Patch) -> None:
    given(IMPLICIT, monkeypatch)
    assert main(["check", "-"]) == 1
    assert capsys.readouterr().out.startswith("<stdin>:10:5: TX101 ")
    given(IMPLICIT, monkeypatch)
    assert main(["diff", "-"]) == 1
    assert "+++ b/<stdin>" in capsys.readouterr().out


def test_stdin_stands_alone(project: Path, capsys: Capture) -> None:
    assert main(["check", "-", "train.py"]) == 2
    assert "no other path may stand beside it" in capsys.readouterr().err


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
def test_ctrl_c_ends_the_other_processes_too(project: Path) -> None:
    for number in range(40):
        (project / f"long{number}.py").write_text(IMPLICIT + "x = 1\n" * 3000)
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


def test_ctrl_c_leaves_whole_files(project: Path, monkeypatch: Patch) -> None:
    """In the middle of writing the second file."""
    calls = []

    def interrupt(descriptor: int) -> None:
        calls.append(descriptor)
        if len(calls) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(write.os, "fsync", interrupt)
    assert main(["migrate", "."]) == 130
    assert "tx.update" in (project / "lib" / "vendored.py").read_text()
    assert (project / "train.py").read_text() == IMPLICIT
    assert sorted(path.name for path in project.iterdir()) == ["lib", "train.py"]
