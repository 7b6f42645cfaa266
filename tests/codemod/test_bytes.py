"""What a rewrite may not disturb: line endings, marks, encodings, comments, neighbours."""

from __future__ import annotations

import io
import tokenize
from collections import Counter
from pathlib import Path

import pytest
from tfexplicit_codemod.decoding import decoded
from tfexplicit_codemod.engine import migrate_source
from tfexplicit_codemod.outcome import Outcome

PROGRAM = """\
#!/usr/bin/env python
# A header.
'''Doc.'''
from __future__ import print_function
import tensorflow as tf  # the library

model = make()  # the model
# above the optimizer
optimizer = tf.keras.optimizers.Adam(1e-3)  # after it
# below it


def step(x):
\tif x:
\t\tgrads = tape.gradient(  # by
\t\t\tloss, model.trainable_variables)
\t\t# before
\t\toptimizer.apply_gradients(zip(grads, model.trainable_variables))  # noqa: E501 reason
\t\t# last
\treturn x
"""
# Spaces at the end of a line, which an editor would take away above.
PROGRAM = PROGRAM.replace("return x\n", "return x    \n")
ADDED = {"import tfexplicit as tx", "opt_state = tx.setup(optimizer, model)"}


def migrated(source: bytes) -> bytes:
    result = migrate_source(source, Path("a.py"))
    assert result.outcome is Outcome.CHANGED, result.reason
    assert result.after is not None
    return result.after


def comments(source: bytes) -> Counter[str]:
    tokens = tokenize.generate_tokens(io.StringIO(decoded(source)).readline)
    return Counter(token.string for token in tokens if token.type == tokenize.COMMENT)


def test_bug_36_only_the_lines_of_the_plan_change() -> None:
    before, after = PROGRAM.splitlines(), migrated(PROGRAM.encode()).decode().splitlines()
    assert set(after) - set(before) == ADDED | {
        "optimizer = tx.Adam(1e-3)  # after it",
        "\t\t\tloss, tx.trainables(model))",
        "\t\ttx.update(opt_state, model, grads)  # noqa: E501 reason",
    }
    assert (
        after.index("import tfexplicit as tx")
        == before.index("import tensorflow as tf  # the library") + 1
    )
    assert len(after) == len(before) + len(ADDED)


def test_bug_31_every_comment_is_still_there() -> None:
    assert comments(migrated(PROGRAM.encode())) == comments(PROGRAM.encode())


def test_bug_08_windows_line_endings_stay() -> None:
    after = migrated(PROGRAM.replace("\n", "\r\n").encode())
    assert after.replace(b"\r\n", b"").count(b"\n") == 0
    assert after.replace(b"\r\n", b"\n") == migrated(PROGRAM.encode())


def test_bug_08_mixed_line_endings_stay_on_untouched_lines() -> None:
    lines = PROGRAM.encode().splitlines()
    ends = [b"\r\n" if i % 3 == 0 else b"\n" for i in range(len(lines))]
    before = [line + end for line, end in zip(lines, ends, strict=True)]
    after = migrated(b"".join(before)).splitlines(keepends=True)
    untouched = [line for line in before if line.rstrip() in {a.rstrip() for a in after}]
    assert all(line in after for line in untouched)
    assert len(untouched) == len(before) - 3


def test_bug_11_a_byte_order_mark_stays() -> None:
    assert migrated(b"\xef\xbb\xbf" + PROGRAM.encode()) == b"\xef\xbb\xbf" + migrated(
        PROGRAM.encode()
    )


def test_bug_13_declared_latin_1_stays_latin_1() -> None:
    text = "# -*- coding: latin-1 -*-\n# caf\u00e9 \u00fc\n" + PROGRAM.replace(
        "the model", "mod\u00e8le"
    )
    after = migrated(text.encode("latin-1"))
    assert "mod\u00e8le".encode("latin-1") in after
    assert comments(after) == comments(text.encode("latin-1"))


def test_bug_13_undeclared_latin_1_is_skipped() -> None:
    source = PROGRAM.replace("the model", "mod\u00e8le").encode("latin-1")
    result = migrate_source(source, Path("a.py"))
    assert (result.outcome, result.after) == (Outcome.SKIPPED, None)
    assert "encoding" in result.reason


def test_wide_characters_before_the_site_do_not_shift_it() -> None:
    program = PROGRAM.replace("\tif x:\n", "\tif x:\n\t\t'\u4e2d\u6587 \U0001f600'; ").replace(
        "grads = tape", "'\u00e9'; grads = tape"
    )
    program = program.replace("'; \t\t'\u00e9'", "'; '\u00e9'")
    assert (
        "; grads = tape.gradient(  # by\n\t\t\tloss, tx.trainables(model))"
        in migrated(program.encode()).decode()
    )


def test_missing_final_newline_stays_missing() -> None:
    program = "import tensorflow as tf\nm = make()\no = tf.keras.optimizers.Adam()\n"
    program += "o.apply_gradients(zip(g, m.trainable_variables))"
    assert migrated(program.encode()).endswith(b"tx.update(o_opt_state, m, g)")


def test_bug_28_form_feed_and_continuation_lines() -> None:
    program = PROGRAM.replace("\n\n\ndef", "\n\x0c\ndef").replace(
        "model = make()", "model = \\\n    make()"
    )
    after = migrated(program.encode()).decode()
    assert "\x0c\ndef" in after
    assert "model = \\\n    make()" in after


def test_two_spaces_and_nested_suites() -> None:
    program = (
        "import tensorflow as tf\nm = make()\no = tf.keras.optimizers.Adam()\n"
        "def f():\n  if a: o.apply_gradients(zip(g, m.trainable_variables)) ; print(1)\n"
    )
    assert (
        "  if a: tx.update(o_opt_state, m, g) ; print(1)\n" in migrated(program.encode()).decode()
    )


def test_bug_32_a_comment_inside_the_call_keeps_the_site() -> None:
    program = PROGRAM.replace(
        "zip(grads, model.trainable_variables))  #",
        "zip(  # why\n grads, model.trainable_variables))  #",
    )
    result = migrate_source(program.encode(), Path("a.py"))
    assert [site.code for site in result.sites] == ["TX215"]


def test_bug_32_a_comment_inside_the_tape_variables_keeps_them() -> None:
    program = PROGRAM.replace(
        "loss, model.trainable_variables)", "loss, model  # ours\n.trainable_variables)"
    )
    after = migrated(program.encode())
    assert comments(after) == comments(program.encode())
    assert b"tx.trainables" not in after


@pytest.mark.parametrize(
    ("head", "first_lines"),
    [
        ("", ["import tfexplicit as tx", "def f(tf):"]),
        ("'''Doc.'''\n", ["'''Doc.'''", "import tfexplicit as tx"]),
        ("'''Doc.'''; x = 1\n", ["'''Doc.'''; x = 1", "import tfexplicit as tx"]),
        ("import os\nx = 1\n", ["import os", "import tfexplicit as tx", "x = 1"]),
        (
            "import os\nos.environ['A'] = '1'\nimport keras\nimport sys\n\nx = 1\nimport late\n",
            ["import os", "os.environ['A'] = '1'", "import keras", "import sys"],
        ),
        ("import keras; import os\n", ["import keras; import os", "import tfexplicit as tx"]),
    ],
)
def test_bug_24_the_import_goes_after_the_imports_and_before_its_use(
    head: str, first_lines: list[str]
) -> None:
    program = head + "".join(
        f"def {name}(tf):\n    import tensorflow as t\n    m = make()\n"
        "    o = t.keras.optimizers.Adam()\n"
        "    o.apply_gradients(zip(g, m.trainable_variables))\n"
        for name in ("f", "g")
    )
    lines = migrated(program.encode()).decode().splitlines()
    assert lines[: len(first_lines)] == first_lines
    assert lines.index("import tfexplicit as tx") < lines.index("def f(tf):")
