"""Cells that cannot be read, or are no code of the notebook: what is not proven from them."""

from __future__ import annotations

import textwrap
from collections.abc import Callable

import pytest
from notebook_program import (
    IMPORTS,
    MODEL,
    OPTIMIZER,
    OPTIMIZER_AFTER,
    STEP,
    STEP_AFTER,
    migrate,
    migrated,
    texts,
)
from tfexplicit_codemod.outcome import Outcome

AsNotebook = Callable[..., bytes]


BROKEN = "optimizer.learning_rate = = 3"


def test_nothing_is_proven_from_a_cell_that_cannot_be_read(as_notebook: AsNotebook) -> None:
    rebinds = "optimizer = tf.keras.optimizers.Adam(2e-4)\nprint 'done'"
    for unread in (BROKEN, rebinds, "%%timeit\noptimizer = f(model)", "%%unknown\nmodel = 3"):
        source = as_notebook(IMPORTS, MODEL, OPTIMIZER, unread, STEP)
        result = migrate(source)
        assert [site.code[:3] for site in result.sites] == ["TX2"], unread
        assert result.outcome is Outcome.NEEDS_HAND
        assert result.after is not None
        cells = texts(result.after)
        assert cells[:4] == texts(source)[:4]
        assert "# TODO(tfexplicit TX2" in cells[4]
        assert "is also in cell 3, which is " in result.sites[0].reason
        assert migrate(source, todo=False).after is None


def test_a_cell_that_cannot_be_read_does_not_hinder_what_it_does_not_name(
    as_notebook: AsNotebook,
) -> None:
    broken = "print 'done'\nnp.mean(tf.ones(3)"
    cells = [f"{IMPORTS}\nimport numpy as np", MODEL, broken, OPTIMIZER, STEP]
    after = migrated(as_notebook(*cells))
    assert after[1:] == [MODEL, broken, OPTIMIZER_AFTER, STEP_AFTER]


@pytest.mark.parametrize(
    ("cell", "reason"),
    [
        (f"%%bash\npython -c '{STEP}'", "it is under `%%bash`, and no code of the notebook"),
        (
            f"%%writefile -a train.py\n{STEP}",
            "it is in a file that the cell writes (`%%writefile -a train.py`): migrate that, and",
        ),
        (f"%%unknown\n{STEP}", "it is under `%%unknown`, and not followed"),
        (f"print 1\n{STEP}", "it is no valid Python: line 1: "),
        (
            textwrap.indent(STEP, "  "),
            "it is no valid Python: line 1: unexpected indent",
        ),
        (f"x = '\ud83d'\n{STEP}", "it is no valid Python: 'utf-8' codec"),
        (f"x = {'(' * 300}\n{STEP}", "it is no valid Python: line 1: too many nested"),
    ],
)
def test_an_update_in_a_cell_that_is_not_read(
    as_notebook: AsNotebook, cell: str, reason: str
) -> None:
    source = as_notebook(IMPORTS, MODEL, OPTIMIZER, cell)
    result = migrate(source)
    assert (result.outcome, result.after) == (Outcome.NEEDS_HAND, None)
    (site,) = result.sites
    assert (site.cell, site.code) == (3, "TX230")
    assert site.reason.startswith(reason)
    assert cell.split("\n")[site.line - 1][site.column - 1 :].startswith(".apply_gradients(")


def test_the_line_that_is_no_python_counts_the_magics_above(as_notebook: AsNotebook) -> None:
    (site,) = migrate(as_notebook(IMPORTS, f"\n%%time\nx = 1\nprint 1\n{STEP}")).sites
    assert site.reason.startswith("it is no valid Python: line 4: Missing parentheses")


def test_words_that_only_look_like_names(as_notebook: AsNotebook) -> None:
    """`²` is a letter to `re`, and no name to Python."""
    after = migrated(as_notebook(IMPORTS, "area in m² = 3 x\n.² = 3", MODEL, OPTIMIZER, STEP))
    assert after[4] == STEP_AFTER


def test_flax_in_a_file_that_is_written_out(as_notebook: AsNotebook) -> None:
    text = "%%writefile train.py\nstate = state.apply_gradients(grads=grads)"
    assert migrate(as_notebook(text)).outcome is Outcome.UNCHANGED


def test_an_update_after_a_magic_that_is_not_followed(as_notebook: AsNotebook) -> None:
    line = "%time for g in grads: optimizer.apply_gradients(zip(g, v))"
    result = migrate(as_notebook(IMPORTS, f"x = 1\n{line}"))
    (site,) = result.sites
    assert (site.cell, site.line, site.text) == (1, 2, line)


def test_code_after_a_magic_that_is_not_followed_is_named(as_notebook: AsNotebook) -> None:
    line = "%lprun -f step optimizer.get_config()"
    (site,) = migrate(as_notebook(IMPORTS, MODEL, OPTIMIZER, STEP, line)).sites
    assert site.reason.endswith("(`optimizer` is also in cell 4, after a magic, and not followed)")
