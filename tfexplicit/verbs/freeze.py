"""`freeze` and `thaw`: leaves that stay as they are."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from tfexplicit import paths
from tfexplicit.arguments import expect_state
from tfexplicit.arrays import read
from tfexplicit.state import AnyState, located
from tfexplicit.unbuilt import catch_up, note_on_missing_leaves
from tfexplicit.unconverted import unconverted
from tfexplicit.writing import Writer


@unconverted
def freeze(opt_state: AnyState, glob: str = "**") -> None:
    """Leave parameters and slots of a part untouched until `thaw`.

    `freeze(opt_state["encoder"])`, or by glob: `freeze(opt_state, "encoder/**")`. Takes effect at
    the next update, also in functions traced earlier. The steps do not count for these leaves.

    Raises:
        TypeError: not a state; a model, for instance.
        KeyError: no leaf matches.
    """
    _set("freeze", opt_state, glob, True)


@unconverted
def thaw(opt_state: AnyState, glob: str = "**") -> None:
    """Undo `freeze`, for the whole state or a part; slots go on from where they were.

    Raises:
        TypeError: not a state; a model, for instance.
        KeyError: no leaf matches.
    """
    _set("thaw", opt_state, glob, False)


def _set(verb: str, opt_state: Any, glob: str, frozen: bool) -> None:
    expect_state(verb, opt_state, f'tx.{verb}(opt_state["encoder"])')
    state, prefix = located(opt_state)
    catch_up(state)
    chosen = {path for path in opt_state.paths if paths.matches(_below(path, prefix), glob)}
    if not chosen:
        raise KeyError(
            f"{verb}: no leaf matches {glob!r}. "
            f"{note_on_missing_leaves(state) or paths.suggestion(glob, opt_state.paths)}"
        )
    if not state.is_live:
        raise TypeError(f"{verb}: this state holds tensors; only one from tx.setup can be changed.")
    for group in state.groups:
        mask = tf.constant([path in chosen for path in group.paths])
        Writer(in_place=True).put(group.frozen, tf.where(mask, frozen, read(group.frozen)))


def _below(path: str, prefix: str) -> str:
    return path[len(prefix) :].lstrip("/") if prefix else path
