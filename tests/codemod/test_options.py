"""The options of the commands, and their keys in pyproject.toml."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import pytest
from tfexplicit_codemod import migration
from tfexplicit_codemod.cli import main

UNPROVEN = """\
import tensorflow as tf

def step(get, grads, model):
    get().apply_gradients(zip(grads, model.trainable_variables))
    tf.GradientTape
"""

Capture = pytest.CaptureFixture[str]
Patch = pytest.MonkeyPatch


@pytest.mark.parametrize(
    "options",
    [
        ["--exclude", "lib/"],
        ["--exclude", "vendored.py", "--exclude", "nothing"],
        ["--exclude", "*", "--exclude", "!train.py"],
    ],
)
def test_exclude(options: list[str], project: Path, capsys: Capture, implicit: str) -> None:
    assert main(["migrate", *options, "."]) == 0
    assert "tx.update" in (project / "train.py").read_text()
    assert (project / "lib" / "vendored.py").read_text() == implicit
    assert "1 file: 1 changed" in capsys.readouterr().out


def test_what_is_excluded_is_not_touched_even_if_it_is_named(project: Path, implicit: str) -> None:
    """A pre-commit hook names every file."""
    assert main(["migrate", "train.py", "lib/vendored.py", "--exclude", "lib"]) == 0
    assert (project / "lib" / "vendored.py").read_text() == implicit


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


def test_an_exclusion_that_is_no_pattern(project: Path, capsys: Capture) -> None:
    assert main(["check", ".", "--exclude", "!"]) == 2
    assert "'!'. Patterns are as in .gitignore." in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--select", "--ignore"])
def test_bug_54_an_unknown_code_is_an_error(option: str, project: Path, capsys: Capture) -> None:
    assert main(["check", "train.py", option, "TX1O1"]) == 2
    error = capsys.readouterr().err
    assert f"{option}: TX1O1 is not a code. Did you mean " in error
    assert "TX1" in error


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
    project: Path, capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: Patch, implicit: str
) -> None:
    assert main(["migrate", "train.py", "--quiet"]) == 0
    given(implicit, monkeypatch)
    assert main(["migrate", "-"]) == 0
    out, err = capsysbinary.readouterr()
    rule, kept = b"= tx.SGD(", b"= tf.keras.optimizers.SGD("
    assert out.replace(kept, rule) == (project / "train.py").read_bytes()
    # Another file may read the optimizer.
    assert kept in out
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


def test_check_and_diff_stdin(
    project: Path, capsys: Capture, monkeypatch: Patch, implicit: str
) -> None:
    given(implicit, monkeypatch)
    assert main(["check", "-"]) == 1
    assert capsys.readouterr().out.startswith("<stdin>:10:5: TX101 ")
    given(implicit, monkeypatch)
    assert main(["diff", "-"]) == 1
    assert "+++ b/<stdin>" in capsys.readouterr().out


def test_stdin_stands_alone(project: Path, capsys: Capture) -> None:
    assert main(["check", "-", "train.py"]) == 2
    assert "no other path may stand beside it" in capsys.readouterr().err
