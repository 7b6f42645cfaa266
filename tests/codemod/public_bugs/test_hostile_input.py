"""Files that end a run of other tools: ours names them and goes on with the others."""

from __future__ import annotations

from pathlib import Path

import pytest
from tfexplicit_codemod import migration
from tfexplicit_codemod.cli import main
from tfexplicit_codemod.engine import migrate_source
from tfexplicit_codemod.outcome import Outcome

Capture = pytest.CaptureFixture[str]

SKIPPED = {
    "3000 brackets": "x = " + "(" * 3000 + ")" * 3000 + "\n",
    "3000 lists": "x = " + "[" * 3000 + "]" * 3000 + "\n",
    "5000 calls": "x = y" + ".b()" * 5000 + "\n",
    "5000 terms": "x = " + " + ".join(["1"] * 5000) + "\n",
    "2000 minus signs": "x = " + "-" * 2000 + "1\n",
    "5000 elif": "if a: pass\n" + "elif a: pass\n" * 5000,
}


@pytest.mark.parametrize("name", SKIPPED)
def test_bug_07_what_libcst_would_not_end_with_is_skipped(name: str, implicit: str) -> None:
    result = migrate_source((implicit + SKIPPED[name]).encode(), Path("a.py"))
    assert (result.outcome, result.reason) == (Outcome.SKIPPED, "too deeply nested")


def test_bug_06_in_several_processes_the_others_are_migrated(
    project: Path, implicit: str, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(migration, "WORTH_A_POOL", 0)
    for number, text in enumerate(SKIPPED.values()):
        (project / f"deep{number}.py").write_text(implicit + text)
    (project / "null.py").write_text(implicit + "\0")
    (project / "latin.py").write_bytes(implicit.encode() + b"# \xe9\n")
    (project / "indent.py").write_text(implicit + "  x\n\ty\n")
    (project / "long line.py").write_text(implicit + "x = '" + "é" * 1_000_000 + "'\n")
    (project / "escapes.py").write_text(implicit + "x = '\\d'\ny = 1if x else 2\n")
    assert main(["migrate", ".", "--jobs", "2"]) == 3
    out, err = capsys.readouterr()
    assert "13 files: 4 changed, 7 skipped, 2 failed" in out
    assert err == ""
    assert (project / "train.py").read_text().count("tx.update") == 1
    assert (project / "null.py").read_text() == implicit + "\0"


F_STRINGS = """\
x, y, f, w = 1, 2.5, "{}", 3
a = f"{x=}" f'{y!r:>{w}}' rf"\\d{x}" f"{{literal}}" f"{y:{w}.{w}f}" F'{ x = !s}'
b = f'''{
    x}''' f"{'nested'!r}" f"{(lambda: 1)()}" f"{x:%Y-%m-%d}" f"{f'{x}'}"
print(f"{optimizer.iterations=}", f"{x!r}" if x else f"{y}")
"""


def test_bug_04b_f_strings_of_every_form_come_back(implicit: str) -> None:
    """tf_upgrade_v2 (tensorflow#24923) ends with an error on the first of them."""
    after = migrate_source((implicit + F_STRINGS).encode(), Path("a.py")).after
    assert after is not None
    assert after.decode().endswith(F_STRINGS)
    assert "tx.update(opt_state, model, grads)" in after.decode()


def test_a_file_that_goes_away_during_the_run(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    find_files = migration.find_files

    def find_and_lose(*arguments: object) -> list[Path]:
        files = find_files(*arguments)  # type: ignore[arg-type]
        (project / "train.py").unlink()
        return files

    monkeypatch.setattr(migration, "find_files", find_and_lose)
    assert main(["migrate", "."]) == 3
    out = capsys.readouterr().out
    assert "train.py: failed: cannot be read: No such file or directory" in out
    assert "tx.update" in (project / "lib" / "vendored.py").read_text()
    assert not (project / "train.py").exists()


@pytest.mark.parametrize(
    "text", ["pass = 1\n", "x = (\n", "print 'x'\n", "\tx\n  y\n", "é = \xa0 1\n"]
)
def test_bug_03_the_place_of_a_syntax_error_is_named(text: str, implicit: str) -> None:
    result = migrate_source((implicit + text).encode(), Path("a.py"))
    line = 1 + implicit.count("\n")
    assert result.outcome is Outcome.FAILED
    assert result.reason.startswith((f"{line}:", f"{line + 1}:"))
