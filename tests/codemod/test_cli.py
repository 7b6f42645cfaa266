"""The commands, their output and exit codes."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tfexplicit_codemod.cli import main
from tfexplicit_codemod.progress import LONG_RUN
from tfexplicit_codemod.registry import all_rules

CODEMOD = Path(__file__).parents[2] / "codemod"

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

def step(optimizer, grads, model):
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
"""

NOTEBOOK = json.dumps(
    {"cells": [{"cell_type": "code", "source": UNPROVEN.splitlines(keepends=True)}]}
)

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "train.py").write_text(IMPLICIT)
    (tmp_path / "other.py").write_text("print('nothing to do')\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def commit(folder: Path) -> None:
    identity = ("-c", "user.name=n", "-c", "user.email=e@x")
    for command in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "first")):
        subprocess.run(["git", *identity, *command], cwd=folder, check=True)


def test_importing_the_command_line_imports_no_heavy_package() -> None:
    heavy = "{'tensorflow', 'keras', 'libcst', 'numpy'}"
    code = f"import tfexplicit_codemod.cli, sys; print({heavy} & set(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": str(CODEMOD)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "set()\n"


def test_bug_48_a_second_run_changes_nothing(project: Path, capsys: Capture) -> None:
    assert main(["migrate", "."]) == 0
    first = (project / "train.py").read_text()
    assert "tx.update(opt_state, model, grads)" in first
    assert "2 files: 1 changed, 1 unchanged" in capsys.readouterr().out
    assert main(["migrate", "."]) == 0
    assert (project / "train.py").read_text() == first
    assert "2 files: 2 unchanged" in capsys.readouterr().out
    assert main(["check", "."]) == 0


@pytest.mark.parametrize(
    "source",
    [IMPLICIT, IMPLICIT.replace("\n", "\r\n"), IMPLICIT.rstrip()],
    ids=["LF", "CRLF", "no newline at the end"],
)
def test_diff_writes_nothing_and_git_applies_it(source: str, project: Path) -> None:
    (project / "train.py").write_bytes(source.encode())
    commit(project)
    done = subprocess.run(
        [sys.executable, "-m", "tfexplicit_codemod", "diff", "."],
        env=os.environ | {"PYTHONPATH": str(CODEMOD)},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    assert (project / "train.py").read_bytes() == source.encode()
    assert b"\x1b[" not in done.stdout
    subprocess.run(["git", "apply"], input=done.stdout, check=True)
    applied = (project / "train.py").read_bytes()
    subprocess.run(["git", "checkout", "-q", "."], check=True)
    main(["migrate", "."])
    assert (project / "train.py").read_bytes() == applied


def test_diff_is_coloured_on_a_terminal(
    project: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert main(["diff", "train.py"]) == 1
    assert "\x1b[32m+    tx.update(opt_state, model, grads)" in capsys.readouterr().out


def test_diff_of_nothing(project: Path, capsys: Capture) -> None:
    assert main(["diff", "other.py"]) == 0
    assert capsys.readouterr().out == ""


def test_check_lists_every_site_by_place_and_writes_nothing(project: Path, capsys: Capture) -> None:
    (project / "unproven.py").write_text(UNPROVEN)
    assert main(["check", "."]) == 1
    out = capsys.readouterr().out
    assert re.search(r"^train\.py:10:5: TX\d+ optimizer\.apply_gradients", out, re.M)
    assert re.search(r"^unproven\.py:4:5: TX2\d+ optimizer\.apply_gradients.*: left: .", out, re.M)
    assert (project / "train.py").read_text() == IMPLICIT


def test_bug_56_text_and_json_agree(project: Path, capsys: Capture) -> None:
    (project / "unproven.py").write_text(UNPROVEN)
    (project / "bad.py").write_text("optimizer.apply_gradients(\n")
    (project / "nb.ipynb").write_text(NOTEBOOK)
    assert main(["check", "."]) == 3
    text = capsys.readouterr().out
    assert main(["check", ".", "--format", "json"]) == 3
    report = json.loads(capsys.readouterr().out)
    summary = report["summary"]
    rewritten, left = sum(summary["rewritten"].values()), sum(summary["left"].values())
    counts = ", ".join(f"{n} {outcome}" for outcome, n in summary["outcomes"].items() if n)
    counts = counts.replace(" changed", " would change")
    assert f"{summary['files']} files: {counts}" in text
    assert f"{summary['sites']} sites: {rewritten} can be rewritten, {left} left" in text
    # The summary is that of the files listed.
    outcomes = [file["outcome"] for file in report["files"]]
    assert {o: outcomes.count(o) for o in summary["outcomes"]} == summary["outcomes"]
    assert set(summary["outcomes"].values()) - {0}
    listed = [site for file in report["files"] for site in file["sites"]]
    assert len(listed) == summary["sites"] == rewritten + left
    for file in report["files"]:
        for site in file["sites"]:
            place = f":{site['line']}:{site['column']}"
            if "cell" in site:
                place = f": cell {site['cell']}, line {site['line']}"
            assert f"{file['path']}{place}: {site['code']} " in text


def test_bug_03_a_syntax_error_beside_nine_good_files(project: Path, capsys: Capture) -> None:
    (project / "other.py").unlink()
    for number in range(8):
        (project / f"good{number}.py").write_text(IMPLICIT)
    (project / "bad.py").write_text("x = 1\noptimizer.apply_gradients(zip(g, v)\n")
    assert main(["migrate", "."]) == 3
    out = capsys.readouterr().out
    assert "10 files: 9 changed, 1 failed" in out
    assert re.search(r"^bad\.py:2:\d+: failed: ", out, re.M)
    migrated = [file for file in project.glob("*.py") if "tx.update" in file.read_text()]
    assert len(migrated) == 9


def test_a_notebook_with_an_update_is_never_passed_over(project: Path, capsys: Capture) -> None:
    (project / "nb.ipynb").write_text(NOTEBOOK)
    (project / "clean.ipynb").write_text('{"cells": []}')
    assert main(["migrate", "."]) == 0
    out = capsys.readouterr().out
    assert "nb.ipynb: cell 0, line 4: TX201 optimizer.apply_gradients(zip(" in out
    assert "4 files: 1 changed, 2 unchanged, 1 needs-hand" in out


def test_bug_51_uncommitted_changes_are_refused(project: Path, capsys: Capture) -> None:
    commit(project)
    (project / "train.py").write_text(IMPLICIT + "# edited\n")
    assert main(["migrate", "."]) == 4
    err = capsys.readouterr().err
    assert "train.py" in err
    assert "--allow-dirty" in err
    assert (project / "train.py").read_text() == IMPLICIT + "# edited\n"
    assert main(["migrate", ".", "--allow-dirty"]) == 0
    assert "tx.update" in (project / "train.py").read_text()


def test_a_file_that_was_never_committed_is_refused_too(project: Path, capsys: Capture) -> None:
    commit(project)
    (project / "new.py").write_text(IMPLICIT)
    assert main(["migrate", "new.py"]) == 4
    assert "new.py" in capsys.readouterr().err
    assert (project / "new.py").read_text() == IMPLICIT


def test_uncommitted_changes_elsewhere_do_not_matter(project: Path) -> None:
    commit(project)
    (project / "other.py").write_text("print('edited')\n")
    assert main(["migrate", "."]) == 0


def test_no_todo(project: Path) -> None:
    (project / "unproven.py").write_text(UNPROVEN)
    assert main(["migrate", "--no-todo", "."]) == 0
    assert (project / "unproven.py").read_text() == UNPROVEN
    assert main(["migrate", "."]) == 0
    assert "# TODO(tfexplicit TX2" in (project / "unproven.py").read_text()


def test_bug_57_an_empty_file_and_an_empty_folder(tmp_path: Path, capsys: Capture) -> None:
    assert main(["migrate", str(tmp_path)]) == 0
    assert "nothing to look at" in capsys.readouterr().out
    (tmp_path / "empty.py").write_bytes(b"")
    assert main(["check", str(tmp_path)]) == 0


def test_a_missing_path_is_a_usage_error(capsys: Capture) -> None:
    assert main(["check", "no/such/folder"]) == 2
    assert "no/such/folder" in capsys.readouterr().err


def test_a_file_name_that_the_terminal_cannot_show(project: Path) -> None:
    (project / "modèle.py").write_text(IMPLICIT)
    done = subprocess.run(
        [sys.executable, "-m", "tfexplicit_codemod", "check", "."],
        env=os.environ | {"PYTHONPATH": str(CODEMOD), "PYTHONIOENCODING": "ascii", "LC_ALL": "C"},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    assert b"mod\\xe8le.py:10:5" in done.stdout


def test_explain_prints_the_page_of_the_guide(capsys: Capture) -> None:
    rules = all_rules()[:2]
    assert main(["explain", *(rule.code.lower() for rule in rules)]) == 0
    out = capsys.readouterr().out
    for rule in rules:
        assert rule.before.strip() in out
        assert rule.after.strip() in out
        assert rule.guide in out


def test_explain_lists_every_code(capsys: Capture) -> None:
    assert main(["explain", "--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == [rule.code for rule in all_rules()]


def test_an_unknown_code_names_a_near_one(capsys: Capture) -> None:
    assert main(["explain", "TX1O7"]) == 2
    assert "TX107" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [[], ["migrat"], ["check"], ["explain"]])
def test_a_wrong_command_line_exits_with_2(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as exit:
        main(arguments)
    assert exit.value.code == 2


@pytest.mark.parametrize("files", [LONG_RUN - 1, LONG_RUN])
@pytest.mark.parametrize("terminal", [False, True])
def test_a_progress_bar_on_long_runs_on_a_terminal(
    files: int, terminal: bool, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    for number in range(files):
        (tmp_path / f"{number}.py").write_text("")
    assert main(["check", str(tmp_path)]) == 0
    shown = "Reading files" in capsys.readouterr().err
    assert shown == (files == LONG_RUN and terminal)


@pytest.mark.parametrize(("option", "ci"), [("--quiet", ""), ("--jobs=1", "true")])
def test_no_progress_bar_in_ci_or_when_quiet(
    option: str, ci: str, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CI", raising=False)
    if ci:
        monkeypatch.setenv("CI", ci)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    for number in range(LONG_RUN):
        (tmp_path / f"{number}.py").write_text("")
    assert main(["check", str(tmp_path), option]) == 0
    assert capsys.readouterr().err == ""
