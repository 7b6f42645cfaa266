"""Bytes that are not what the locale or a parser expects."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tfexplicit_codemod.engine import migrate_source
from tfexplicit_codemod.outcome import Outcome

CODEMOD = Path(__file__).parents[3] / "codemod"


def test_bug_10_the_locale_does_not_matter(project: Path, implicit: str) -> None:
    """Text is decoded as the file says, and names are printed as far as the terminal can."""
    (project / "modèle.py").write_bytes(f"{implicit}print('é 中')\n".encode())
    (project / ".gitignore").write_bytes("été/\n".encode())
    (project / "pyproject.toml").write_bytes('[tool.tfexplicit]\nexclude = ["naïve"]\n'.encode())
    c_locale = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    for command, code in (("diff", 1), ("migrate", 0)):
        done = subprocess.run(
            [sys.executable, "-m", "tfexplicit_codemod", command, "."],
            env=os.environ | c_locale | {"PYTHONPATH": str(CODEMOD)},
            capture_output=True,
            check=False,
        )
        assert (done.returncode, b"Traceback" in done.stderr) == (code, False)
    after = (project / "modèle.py").read_bytes().decode()
    assert "tx.update(opt_state, model, grads)" in after
    assert after.endswith("print('é 中')\n")


ENDS = ["", "\n", "\n\n", "\r", "\r\n", "\n\r", "\n\x0c", "  ", "\n\t", "\n# é", "\\\n", "\n\\\n"]


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_bug_12_whatever_ends_the_file_comes_back(end: str, mark: bytes, implicit: str) -> None:
    source = mark + implicit.rstrip("\n").encode() + end.encode()
    result = migrate_source(source, Path("a.py"))
    if result.outcome is Outcome.CHANGED:
        assert result.after is not None
        update = b"tx.update(opt_state, model, grads)"
        assert result.after.startswith(mark + b"import tensorflow as tf\nimport tfexplicit")
        assert result.after.endswith(update + end.encode())
    else:
        assert (result.after, result.outcome) in [(None, Outcome.SKIPPED), (None, Outcome.FAILED)]
        assert result.reason


@pytest.mark.parametrize(
    ("cookie", "encoding", "outcome"),
    [
        ("# -*- coding: cp1252 -*-", "cp1252", Outcome.CHANGED),
        ("# vim: set fileencoding=shift_jis :", "shift_jis", Outcome.CHANGED),
        ("#!/usr/bin/python\n# coding=koi8-r", "koi8-r", Outcome.CHANGED),
        ("# coding: utf-8", "utf-8-sig", Outcome.CHANGED),
        ("# coding: latin-1", "utf-8-sig", Outcome.SKIPPED),
        ("# coding: ascii", "utf-8", Outcome.SKIPPED),
        ("# coding: nonsense", "utf-8", Outcome.SKIPPED),
        ("x = 1", "utf-16", Outcome.SKIPPED),
    ],
)
def test_bug_13_the_encoding_is_the_one_that_the_file_names(
    cookie: str, encoding: str, outcome: Outcome, implicit: str
) -> None:
    letter = {"koi8-r": "Ж", "shift_jis": "中"}.get(encoding, "é")
    source = f"{cookie}\n# {letter}\n{implicit}".encode(encoding)
    result = migrate_source(source, Path("a.py"))
    if encoding == "utf-16":
        # Its bytes hold no ASCII word; Python does not run such a file.
        assert result.outcome is Outcome.UNCHANGED
        return
    assert result.outcome is outcome, result.reason
    if outcome is Outcome.CHANGED:
        assert result.after is not None
        assert f"# {letter}\n" in result.after.decode(encoding)
    else:
        assert result.reason.startswith("encoding: ")
