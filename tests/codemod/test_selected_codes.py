"""Codes that a run does not take, and sites that a comment ignores."""

from __future__ import annotations

from pathlib import Path

import pytest
from tfexplicit_codemod.engine import migrate_source
from tfexplicit_codemod.outcome import FileResult, Outcome
from tfexplicit_codemod.selection import EVERYTHING, Selection

PROGRAM = """\
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.SGD(0.1)

def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x) - y) ** 2)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
"""
UPDATE = "    optimizer.apply_gradients(zip(grads, model.trainable_variables))\n"
CONSTRUCTOR = "optimizer = tf.keras.optimizers.SGD(0.1)\n"
LEFT = """\
import tensorflow as tf

def step(get, grads, model):
    get().apply_gradients(zip(grads, model.trainable_variables))
    tf.GradientTape
"""


def migrated(source: str, selection: Selection = EVERYTHING) -> FileResult:
    return migrate_source(source.encode(), Path("a.py"), selection=selection)


def after(source: str, selection: Selection = EVERYTHING) -> str:
    result = migrated(source, selection)
    return (result.before if result.after is None else result.after).decode()


def codes(result: FileResult) -> list[str]:
    return [site.code for site in result.sites]


@pytest.mark.parametrize(
    "selection",
    [Selection(ignore=frozenset({"TX101"})), Selection(select=frozenset({"TX102"}))],
    ids=["ignored", "not selected"],
)
def test_a_rewrite_that_is_not_taken_leaves_the_file_alone(selection: Selection) -> None:
    result = migrated(PROGRAM, selection)
    assert (result.outcome, result.after, result.sites) == (Outcome.UNCHANGED, None, ())
    assert result.ignored == 1


def test_only_the_selected_rewrites_are_made() -> None:
    text = after(PROGRAM, Selection(select=frozenset({"TX101"})))
    assert "tx.update(opt_state, model, grads)" in text
    assert CONSTRUCTOR in text
    assert "tape.gradient(loss, model.trainable_variables)" in text


@pytest.mark.parametrize(
    ("code", "stays"),
    [("TX103", CONSTRUCTOR), ("TX104", "tape.gradient(loss, model.trainable_variables)")],
)
def test_a_rewrite_beside_the_site_can_be_ignored(code: str, stays: str) -> None:
    text = after(PROGRAM, Selection(ignore=frozenset({code})))
    assert stays in text
    assert "tx.update(opt_state, model, grads)" in text
    line = next(line for line in PROGRAM.splitlines() if stays.strip() in line)
    commented = PROGRAM.replace(line, f"{line}  # tfexplicit: ignore[{code}]")
    assert after(commented) == text.replace(line, f"{line}  # tfexplicit: ignore[{code}]")


def test_a_reason_that_is_not_taken_writes_no_todo() -> None:
    [code] = codes(migrated(LEFT))
    result = migrated(LEFT, Selection(ignore=frozenset({code})))
    assert (result.outcome, result.after, result.ignored) == (Outcome.UNCHANGED, None, 1)
    assert codes(migrated(LEFT, Selection(select=frozenset({code})))) == [code]


def test_a_site_that_cannot_be_placed_is_found_by_that_reason() -> None:
    """Not taken for a TX101 that is not selected."""
    moved = PROGRAM.replace("def step(x, y)", "def step(model, x, y)")
    [code] = codes(migrated(moved))
    assert code.startswith("TX2")
    assert codes(migrated(moved, Selection(select=frozenset({code})))) == [code]


@pytest.mark.parametrize(
    "comment",
    [
        "# tfexplicit: ignore",
        "#tfexplicit:ignore[TX101]",
        "# noqa: E501  # tfexplicit: ignore[tx103, tx101] as the paper has it",
    ],
)
@pytest.mark.parametrize(
    "site",
    [
        UPDATE.rstrip() + "  {}\n",
        "    optimizer.apply_gradients(\n        zip(grads, model.trainable_variables))  {}\n",
    ],
    ids=["one line", "last line"],
)
def test_a_comment_ignores_its_site(comment: str, site: str) -> None:
    source = PROGRAM.replace(UPDATE, site.format(comment))
    result = migrated(source)
    assert (result.outcome, result.after, result.ignored) == (Outcome.UNCHANGED, None, 1)


def test_a_comment_inside_the_call_ignores_it() -> None:
    """It is also a reason to leave the site, which it takes along."""
    call = UPDATE.replace("(zip", "(  # tfexplicit: ignore\n        zip")
    assert migrated(PROGRAM.replace(UPDATE, call)).ignored == 1


@pytest.mark.parametrize(
    "comment",
    [
        "# tfexplicit: ignore[TX102]",
        "# tfexplicit: ignored by nobody",
        "# tfexplicit ignore",
    ],
)
def test_another_comment_ignores_nothing(comment: str) -> None:
    source = PROGRAM.replace(UPDATE, f"{UPDATE.rstrip()}  {comment}\n")
    assert codes(migrated(source)) == ["TX101"]


def test_a_string_is_no_comment() -> None:
    source = PROGRAM.replace(UPDATE, f"{UPDATE.rstrip()}; '# tfexplicit: ignore'\n")
    assert codes(migrated(source)) != []


def test_an_ignored_update_keeps_the_state_of_its_optimizer_implicit() -> None:
    """Two updates of one optimizer share its state: one of them alone cannot be rewritten."""
    source = PROGRAM + UPDATE.rstrip() + "  # tfexplicit: ignore\n"
    result = migrated(source)
    assert codes(result) == ["TX214"]
    assert result.ignored == 1
    assert "tx." not in after(source)


HANDED_OVER = """\
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.SGD(0.1)

def step(optimizer, x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(x))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))

step(optimizer, tf.ones((2, 1)))
with tf.GradientTape() as tape:
    loss = tf.reduce_mean(model(tf.ones((2, 1))))
grads = tape.gradient(loss, model.trainable_variables)
optimizer.apply_gradients(zip(grads, model.trainable_variables))
"""


def test_an_ignored_update_keeps_what_is_handed_to_it() -> None:
    """The function and its caller change together, or not at all."""
    assert codes(migrated(HANDED_OVER)) == ["TX109", "TX101"]
    for ignored, other in (("TX109", 16), ("TX101", 10)):
        result = migrated(HANDED_OVER, Selection(ignore=frozenset({ignored})))
        [left] = result.sites
        assert (left.left, left.line, result.ignored) == (True, other, 1)
        assert result.after is not None
        assert "tx." not in result.after.decode()
