"""Things that a rule does every so many of a leaf's own steps."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from tfexplicit.rule import LeafStep


def is_due(at: LeafStep, period: int) -> Any:
    """True at each `period`-th step that this leaf makes; a bool scalar."""
    return tf.equal((at.taken + 1) % period, 0)


def expect_count(owner: str, name: str, value: object, least: int = 1) -> None:
    """Refuse what is not an integer from `least` on. It shapes the step, so no tensor will do."""
    is_integer = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not is_integer:
        raise TypeError(
            f"{owner}: `{name}` must be an integer, got {type(value).__name__}: {value!r}."
        )
    if int(value) < least:  # type: ignore[call-overload]
        raise ValueError(f"{owner}: `{name}` must be at least {least}, got {value!r}.")
