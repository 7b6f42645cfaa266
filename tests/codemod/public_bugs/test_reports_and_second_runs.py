"""What is said of a run, and what a second run does."""

from __future__ import annotations

import ast
import json
import subprocess
from pathlib import Path

import pytest
from tfexplicit_codemod.cli import main
from tfexplicit_codemod.engine import migrate_source
from tfexplicit_codemod.registry import Rule, all_rules

Capture = pytest.CaptureFixture[str]
RULES = [
    pytest.param(rule, id=rule.code)
    for rule in all_rules()
    if not (rule.is_cell or rule.is_run_time_only)
]
METHODS = ("apply_gradients", "minimize", "apply", "get_updates")


@pytest.mark.parametrize("rule", RULES)
def test_bug_17_every_update_of_a_program_is_in_the_report(rule: Rule) -> None:
    calls = [
        (node.lineno, node.col_offset + 1)
        for node in ast.walk(ast.parse(rule.before))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in METHODS
        and ast.unparse(node.func.value) != "super()"
    ]
    result = migrate_source(rule.before.encode(), Path("sample.py"))
    assert [(site.line, site.column) for site in result.sites] == sorted(calls)
    assert all(site.reason for site in result.sites if site.left)


UNPROVEN = """\
import tensorflow as tf

def step(optimizer, grads, model):
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
"""


def test_bug_42_a_todo_is_written_once(project: Path) -> None:
    (project / "unproven.py").write_text(UNPROVEN)
    for _ in range(3):
        assert main(["migrate", "."]) == 0
        text = (project / "unproven.py").read_text()
        assert text.count("# TODO(tfexplicit TX201)") == 1
    assert main(["migrate", "--no-todo", "."]) == 0
    assert (project / "unproven.py").read_text() == text


def test_bug_50_each_skip_has_its_reason_in_every_report(project: Path, capsys: Capture) -> None:
    (project / "unproven.py").write_text(UNPROVEN)
    (project / "deep.py").write_text("o.apply_gradients(x)\nx = " + "(" * 3000 + ")" * 3000)
    (project / "latin.py").write_bytes(b"o.apply_gradients(x)  # \xe9\n")
    assert main(["check", "."]) == 3
    text = capsys.readouterr().out
    assert "deep.py: skipped: too deeply nested" in text
    assert "latin.py: skipped: encoding: " in text
    assert "5 files: 2 would change, 1 needs-hand, 2 skipped" in text
    assert main(["check", ".", "--format", "json"]) == 3
    report = json.loads(capsys.readouterr().out)
    reasons = {file["path"]: file.get("reason", "") for file in report["files"]}
    assert reasons["deep.py"] == "too deeply nested"
    assert reasons["latin.py"].startswith("encoding: ")
    (site,) = next(file["sites"] for file in report["files"] if file["path"] == "unproven.py")
    assert site["reason"]
    assert report["summary"]["left"] == {"TX201": 1}


@pytest.mark.parametrize("order", [("__init__.py", "train.py"), ("train.py", "__init__.py")])
def test_bug_27_and_57_an_empty_file_stays_empty(order: tuple[str, str], project: Path) -> None:
    (project / "__init__.py").write_bytes(b"")
    assert main(["migrate", *order]) == 0
    assert (project / "__init__.py").read_bytes() == b""
    assert "tx.update" in (project / "train.py").read_text()


def test_bug_43_only_source_is_rewritten(project: Path, implicit: str) -> None:
    subprocess.run(["git", "init", "-q"], cwd=project, check=True)
    for folder in (".git", ".tox/py", "venv/lib", "ignored", "build", "pkg/site-packages"):
        (project / folder).mkdir(parents=True, exist_ok=True)
        (project / folder / "x.py").write_text(implicit)
    (project / "venv" / "pyvenv.cfg").write_text("")
    (project / ".gitignore").write_text("ignored/\n")
    assert main(["migrate", ".", "--allow-dirty"]) == 0
    rewritten = [file for file in project.rglob("*.py") if "tx.update" in file.read_text()]
    assert sorted(file.name for file in rewritten) == ["train.py", "vendored.py"]
