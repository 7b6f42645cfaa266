"""Notebooks as people write them: what becomes of their cells."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest
from notebook_program import (
    IMPORTS,
    IMPORTS_AFTER,
    MODEL,
    OPTIMIZER,
    OPTIMIZER_AFTER,
    RUN,
    STEP,
    STEP_AFTER,
    migrate,
    migrated,
    texts,
)
from tfexplicit_codemod.notebook.migrate import migrate_notebook
from tfexplicit_codemod.outcome import Outcome

AsNotebook = Callable[..., bytes]


def test_bug_22_what_one_cell_makes_and_another_uses(as_notebook: AsNotebook) -> None:
    before = as_notebook("#md optimizer", IMPORTS, "", MODEL, OPTIMIZER, STEP, RUN)
    assert migrated(before) == [
        "#md optimizer", IMPORTS_AFTER, "", MODEL, OPTIMIZER_AFTER, STEP_AFTER, RUN,
    ]  # fmt: skip


def test_the_place_of_a_site_is_its_cell_and_line(as_notebook: AsNotebook) -> None:
    (site,) = migrate(as_notebook("#md", IMPORTS, MODEL, OPTIMIZER, f"%%time\n# x\n{STEP}")).sites
    assert (site.cell, site.line, site.column) == (4, 8, 5)
    assert site.place == "cell 4, line 8"


@pytest.mark.parametrize("indent", [None, 1, 2, 4, "\t"])
@pytest.mark.parametrize("ascii_only", [True, False])
def test_bug_23_outputs_ids_and_metadata_stay(
    as_notebook: AsNotebook, indent: object, ascii_only: bool
) -> None:
    """The file is the one that `json` would write for the same notebook with other sources."""
    cells, layout = (
        (IMPORTS, MODEL, OPTIMIZER, STEP),
        {"indent": indent, "ensure_ascii": ascii_only},
    )
    after = migrate(as_notebook(*cells, **layout)).after
    assert after == as_notebook(IMPORTS_AFTER, MODEL, OPTIMIZER_AFTER, STEP_AFTER, **layout)


def test_bug_23_a_source_that_is_one_string() -> None:
    cells = [{"cell_type": "code", "source": text} for text in (IMPORTS, MODEL, OPTIMIZER, STEP)]
    result = migrate(json.dumps({"cells": cells}).encode())
    assert result.after is not None
    sources = [cell["source"] for cell in json.loads(result.after)["cells"]]
    assert sources == [IMPORTS_AFTER, MODEL, OPTIMIZER_AFTER, STEP_AFTER]


def test_format_3() -> None:
    cells = [{"cell_type": "code", "input": text} for text in (IMPORTS, MODEL, OPTIMIZER, STEP)]
    sheets = [{"cells": cells[:2]}, {"cells": cells[2:]}]
    result = migrate(json.dumps({"nbformat": 3, "worksheets": sheets}).encode())
    assert [site.cell for site in result.sites] == [3]
    assert result.after is not None
    inputs = [
        c["input"] for sheet in json.loads(result.after)["worksheets"] for c in sheet["cells"]
    ]
    assert inputs == [IMPORTS_AFTER, MODEL, OPTIMIZER_AFTER, STEP_AFTER]


def test_bug_18_magics_shell_lines_and_help(as_notebook: AsNotebook) -> None:
    before = as_notebook(
        "!pip install -q tensorflow 'x\n%matplotlib inline",
        f"%%capture out\n%%time\n{IMPORTS}\n%load_ext tensorboard",
        f"{MODEL}\nfiles = !ls ($\nmodel?",
        f"%time {OPTIMIZER}",
        STEP.replace("    return loss", "    !date\n    return loss"),
        "for x, y in data:\n    %time step(x, y)\n    plt.plot(x);",
        "%%bash\nls $(",
        "%%html\n<b>'",
        "%tensorboard --logdir logs",
    )
    after = texts(before)
    after[1] = f"%%capture out\n%%time\n{IMPORTS_AFTER}\n%load_ext tensorboard"
    after[3] = f"%time {OPTIMIZER_AFTER}"
    after[4] = STEP_AFTER.replace("    return loss", "    !date\n    return loss")
    assert migrated(before) == after


def test_bug_20_a_semicolon_at_the_end_stays(as_notebook: AsNotebook) -> None:
    step = STEP.replace("\n    return loss", ";")
    after = STEP_AFTER.replace("\n    return loss", ";")
    cells = as_notebook(IMPORTS, MODEL, f"{OPTIMIZER};", step)
    setup = "optimizer = tx.SGD(0.1);\nopt_state = tx.setup(optimizer, model)"
    assert migrated(cells) == [IMPORTS_AFTER, MODEL, setup, after]


def test_bug_19_comments_that_look_like_marks_between_cells(as_notebook: AsNotebook) -> None:
    cells = [
        f"# %%\n{IMPORTS}",
        "# %% [markdown]\n# %%time",
        MODEL,
        f"# %%capture\n{OPTIMIZER}",
        STEP,
    ]
    after = [
        f"# %%\n{IMPORTS_AFTER}",
        cells[1],
        MODEL,
        f"# %%capture\n{OPTIMIZER_AFTER}",
        STEP_AFTER,
    ]
    assert migrated(as_notebook(*cells)) == after


def test_line_endings_within_a_cell(as_notebook: AsNotebook) -> None:
    cells = [text.replace("\n", "\r\n") for text in (IMPORTS, MODEL, OPTIMIZER, STEP)]
    after = [IMPORTS_AFTER, MODEL, OPTIMIZER_AFTER, STEP_AFTER]
    # A cell of one line has no line ending to go by.
    expected = [*after[:3], STEP_AFTER.replace("\n", "\r\n")]
    assert migrated(as_notebook(*cells)) == expected


def test_an_encoding_line_says_nothing_in_a_cell(as_notebook: AsNotebook) -> None:
    cookie = "# -*- coding: latin-1 -*-\nname = 'é'\n"
    cells = [cookie + IMPORTS, MODEL, OPTIMIZER, f"{cookie}{STEP}  # é"]
    expected = [cookie + IMPORTS_AFTER, MODEL, OPTIMIZER_AFTER, f"{cookie}{STEP_AFTER}  # é"]
    assert migrated(as_notebook(*cells)) == expected


def test_indented_with_tabs(as_notebook: AsNotebook) -> None:
    step, after = STEP.replace("    ", "\t"), STEP_AFTER.replace("    ", "\t")
    assert migrated(as_notebook(IMPORTS, MODEL, OPTIMIZER, step))[-1] == after


def test_two_optimizers_of_one_name(as_notebook: AsNotebook) -> None:
    """A name that a later cell binds anew: no step may go to the state of the other."""
    second = "optimizer = tf.keras.optimizers.Adam(0.1)"
    cells = (IMPORTS, MODEL, OPTIMIZER, STEP, RUN, second, STEP, RUN)
    result = migrate(as_notebook(*cells))
    assert [site.cell for site in result.sites] == [3, 6]
    assert result.after is not None
    after = texts(result.after)
    for made, used in ((2, 3), (5, 6)):
        state = re.search(r"tx\.update\((\w+), ", after[used])
        if state:
            assert f"{state[1]} = tx.setup(optimizer, model)" in after[made]
        else:
            assert "# TODO(tfexplicit TX2" in after[used]


def test_another_kernel_is_not_ours(as_notebook: AsNotebook) -> None:
    source = json.loads(as_notebook(IMPORTS, MODEL, OPTIMIZER, STEP))
    for metadata in ({"language_info": {"name": "R"}}, {"kernelspec": {"language": "julia"}}):
        changed = json.dumps({**source, "metadata": metadata}).encode()
        assert migrate(changed).outcome is Outcome.UNCHANGED
    for metadata in ({"language_info": {"name": "ipython"}}, {"kernelspec": 3}, None):
        changed = json.dumps({**source, "metadata": metadata}).encode()
        assert migrate(changed).outcome is Outcome.CHANGED


@pytest.mark.parametrize(
    ("source", "outcome", "reason"),
    [
        (b'{"cells": [apply_gradients', Outcome.FAILED, "1:12: not JSON: Expecting value"),
        (b'{"apply_gradients": 1}', Outcome.FAILED, "not a notebook: it has no cells"),
        (b'{"cells": "apply_gradients\xe9"}', Outcome.SKIPPED, "encoding: 'utf-8' codec can't"),
        (b"apply_gradients" + b"[" * 100_000, Outcome.FAILED, "1:1: not JSON"),
        (b'{"apply_gradients":' + b"[" * 200_000, Outcome.SKIPPED, "too deeply nested"),
        (b"[" * 200_000, Outcome.UNCHANGED, ""),
    ],
)
def test_what_cannot_be_read(source: bytes, outcome: Outcome, reason: str) -> None:
    result = migrate(source)
    assert result.outcome is outcome
    assert result.reason.startswith(reason)


def test_a_byte_order_mark_stays(as_notebook: AsNotebook) -> None:
    plain = as_notebook(IMPORTS, MODEL, OPTIMIZER, STEP)
    with_mark = migrate(b"\xef\xbb\xbf" + plain)
    after = migrate(plain).after
    assert after is not None
    assert with_mark.after == b"\xef\xbb\xbf" + after


def test_signs_of_sparse_gradients_are_looked_for_in_the_code(as_notebook: AsNotebook) -> None:
    adam = OPTIMIZER.replace("SGD", "Adam")
    after = migrated(as_notebook("#md Embedding(", IMPORTS, MODEL, adam, STEP))
    assert after[3] == OPTIMIZER_AFTER.replace("SGD", "Adam")
    after = migrated(as_notebook(IMPORTS, "e = tf.keras.layers.Embedding(3, 4)", MODEL, adam, STEP))
    assert after[3] == f"{adam}\nopt_state = tx.setup(optimizer, model)"


def test_a_function_that_makes_the_state_of_what_it_is_given(as_notebook: AsNotebook) -> None:
    maker = "def make(model, optimizer):\n" + textwrap.indent(STEP, "    ") + "\n    return step"
    result = migrate_notebook(as_notebook(IMPORTS, maker), Path("a.ipynb"))
    assert [site.code for site in result.sites] == ["TX114"]
    setup = "    opt_state = None if optimizer is None else tx.setup(optimizer, model)\n"
    assert json.dumps(setup)[1:-1].encode() in (result.after or b"")


@pytest.mark.parametrize(
    ("use", "after"),
    [
        ("!echo {optimizer.iterations.numpy()}", ""),
        ("!echo $optimizer", ""),
        ("v = !cmd {optimizer.iterations}", ""),
        ("if v:\n    %env X={optimizer.iterations}", ""),
        ('%%time\n%%bash -s "$optimizer"\nls', ""),
        ("%%sx\necho {optimizer}", ""),
        ("%timeit -n1 -r 1 -q optimizer.get_config()", ""),
        ("%time c = optimizer.get_config()", ""),
        ("!echo $model {step}", "!echo $model {step}"),
        ("%%bash\necho {optimizer} $optimizer", "%%bash\necho {optimizer} $optimizer"),
        ("%timeit -n1 -r1 int(optimizer.iterations)", "%timeit -n1 -r1 int(opt_state.step)"),
        (
            "%timeit -n1 " + STEP.split("\n")[5].strip(),
            "%timeit -n1 tx.update(opt_state, model, grads)",
        ),
    ],
)
def test_a_magic_that_uses_the_optimizer(as_notebook: AsNotebook, use: str, after: str) -> None:
    """IPython puts `{code}` and `$name` into such a line; where it cannot be written anew, the
    object of Keras stays."""
    cells = migrated(as_notebook(IMPORTS, MODEL, OPTIMIZER, STEP + "\ngrads = []", use))
    stays = f"{OPTIMIZER}\n{OPTIMIZER_AFTER.splitlines()[1]}"
    assert cells[2] == (OPTIMIZER_AFTER if after else stays)
    assert cells[4] == (after or use)
