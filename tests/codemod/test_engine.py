"""The stages of the engine: what is cheap stays cheap, and bad input ends as an outcome."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import libcst
import pytest
from tfexplicit_codemod import rewrite
from tfexplicit_codemod.edits import Edits, Replace
from tfexplicit_codemod.engine import migrate_source
from tfexplicit_codemod.outcome import Outcome

SITE = """\
import tensorflow as tf
m = make()
o = tf.keras.optimizers.Adam()
o.apply_gradients(zip(g, m.trainable_variables))
"""


@pytest.fixture
def parses(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """The sources that LibCST is asked to parse as a module."""
    seen: list[bytes] = []
    original = libcst.parse_module

    def counting(source: bytes) -> libcst.Module:
        seen.append(source)
        return original(source)

    monkeypatch.setattr(libcst, "parse_module", counting)
    return seen


@pytest.mark.parametrize(
    "source",
    [
        "print(1)\n",
        "x.apply_gradients(1)\n",
        "import tensorflow as tf\nmodel.trainable_variables\nstate.apply_gradients(grads=g)\n",
        "def broken(:\n    o.apply_gradients(x)\n",
    ],
)
def test_bug_53_libcst_never_sees_a_file_without_a_site(source: str, parses: list[bytes]) -> None:
    migrate_source(source.encode(), Path("a.py"))
    assert parses == []


def test_libcst_sees_a_file_with_a_site_once(parses: list[bytes]) -> None:
    migrate_source(SITE.encode(), Path("a.py"))
    assert len(parses) == 1


def test_libcst_is_not_needed_for_a_todo_written_before(parses: list[bytes]) -> None:
    left = SITE.replace("o.apply", "# TODO(tfexplicit TX207): seen\nx = y = o.apply")
    assert migrate_source(left.encode(), Path("a.py")).outcome is Outcome.NEEDS_HAND
    assert parses == []


def test_importing_engine_and_registry_imports_neither_libcst_nor_tensorflow() -> None:
    program = (
        "import sys; from pathlib import Path\n"
        "from tfexplicit_codemod import engine, registry\n"
        "registry.all_rules(); engine.migrate_source(b'x.apply_gradients(1)', Path('a.py'))\n"
        "assert not {'libcst', 'tensorflow', 'keras'} & set(sys.modules)\n"
    )
    codemod = Path(rewrite.__file__).parents[1]
    subprocess.run([sys.executable, "-c", program], check=True, env={"PYTHONPATH": str(codemod)})


@pytest.mark.parametrize(("line", "place"), [(b"x = (\n", "2:5"), (b"print 'Python 2'\n", "2:1")])
def test_syntax_error_names_line_and_column(line: bytes, place: str) -> None:
    result = migrate_source(b"o.apply_gradients(x)\n" + line, Path("a.py"))
    assert (result.outcome, result.after) == (Outcome.FAILED, None)
    assert result.reason.startswith(f"{place}: not Python 3: ")


def test_null_byte_fails() -> None:
    result = migrate_source(b"o.apply_gradients(x)\n\0", Path("a.py"))
    assert result.outcome is Outcome.FAILED


def test_unknown_encoding_is_skipped() -> None:
    result = migrate_source(b"# coding: nonsense\no.apply_gradients(x)\n", Path("a.py"))
    assert result.outcome is Outcome.SKIPPED
    assert "nonsense" in result.reason


@pytest.mark.parametrize("brackets", [300, 3000])
def test_bug_05_nested_brackets_are_skipped_before_they_crash_the_parser(brackets: int) -> None:
    source = SITE + "x = " + "(" * brackets + ")" * brackets + "\n"
    result = migrate_source(source.encode(), Path("a.py"))
    assert (result.outcome, result.reason) == (Outcome.SKIPPED, "too deeply nested")


@pytest.mark.parametrize(
    "extra",
    [
        "x = y" + ".b()" * 300 + "\n",
        "x = " + " + ".join(["1"] * 1000) + "\n",
        "if a: pass\n" + "elif a: pass\n" * 500,
    ],
    ids=["chain of calls", "sum", "elif"],
)
def test_bug_04_long_chains_are_migrated(extra: str) -> None:
    result = migrate_source((SITE + extra).encode(), Path("a.py"))
    assert result.outcome is Outcome.CHANGED, result.reason
    assert result.after is not None
    assert result.after.decode().endswith(extra)


def test_bug_28_output_that_would_not_parse_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rewrite, "apply", lambda source, edits: b"x = (\n")
    result = migrate_source(SITE.encode(), Path("a.py"))
    assert (result.outcome, result.after, result.before) == (Outcome.FAILED, None, SITE.encode())
    assert "would not parse" in result.reason


def test_bug_12_a_file_that_does_not_come_back_is_skipped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    other = libcst.parse_module("x = 1\n")
    monkeypatch.setattr(libcst, "parse_module", lambda source: other)
    result = migrate_source(SITE.encode(), Path("a.py"))
    assert (result.outcome, result.reason) == (Outcome.SKIPPED, "not round-trippable")


def test_edit_on_a_line_of_a_decorator() -> None:
    edits = Edits()
    edits.add(Replace((2, 5), (2, 6), "b"))
    source = "class A:\n    @a\n    def f(self):\n        pass\n"
    assert rewrite.apply(source, edits) == source.replace("@a", "@b")


def test_bug_27_two_files_do_not_share_state() -> None:
    first = migrate_source(SITE.encode(), Path("a.py"))
    empty = migrate_source(b"", Path("__init__.py"))
    again = migrate_source(SITE.encode(), Path("a.py"))
    assert empty.outcome is Outcome.UNCHANGED
    assert first == again


def test_unequal_rewrites_of_one_place_are_a_bug_of_ours() -> None:
    edits = Edits()
    edits.add(Replace((1, 0), (1, 3), "a"))
    edits.add(Replace((1, 0), (1, 3), "a"))
    with pytest.raises(AssertionError, match="two rewrites"):
        edits.add(Replace((1, 0), (1, 3), "b"))


def test_site_tells_line_column_and_text_of_the_file_as_it_was() -> None:
    (site,) = migrate_source(SITE.encode(), Path("a.py")).sites
    assert (site.line, site.column, site.code, site.left) == (4, 1, "TX101", False)
    assert site.text == "o.apply_gradients(zip(g, m.trainable_variables))"
