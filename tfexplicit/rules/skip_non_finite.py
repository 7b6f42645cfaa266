"""Leave out steps whose gradient is not finite."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import tensorflow as tf

from tfexplicit.non_finite import all_finite, any_steps, no_steps_left_out, stepping_unless
from tfexplicit.periods import expect_count
from tfexplicit.rule import LeafStep, Rule, Slots


@dataclass(frozen=True, eq=False, repr=False)
class SkipNonFinite(Rule):
    """If any gradient has an infinity or a NaN, no leaf steps, and the rules after this rest.

    Their bias correction leaves the step out; `opt_state.step` counts it. "Any" are the leaves that
    this rule steps, over all replicas. Shared scalars `in_a_row` and `total` count non-finite steps
    (int64); the slot `skipped` counts them per leaf.

    Args:
        max_in_a_row: after so many non-finite steps in a row the next ones go through, so that a
            model that is broken for good is seen to be (as `optax.apply_if_finite`); None: never.
    """

    moves: ClassVar[bool] = False
    rowwise: ClassVar[bool] = True
    elementwise: ClassVar[bool] = True

    max_in_a_row: int | None = None
    left_out: Any = field(default=None, init=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.max_in_a_row is not None:
            expect_count("SkipNonFinite", "max_in_a_row", self.max_in_a_row)

    def init(self, leaf: Any) -> Slots:
        return no_steps_left_out()

    def shared(self) -> Slots:
        return {"in_a_row": tf.zeros([], tf.int64), "total": tf.zeros([], tf.int64)}

    def seeing(self, leaves: Sequence[LeafStep], shared: Slots) -> tuple[SkipNonFinite, Slots]:
        before = shared["in_a_row"]
        bad = any_steps(leaves) & ~all_finite(leaves)
        in_a_row = tf.where(bad, before + 1, tf.where(any_steps(leaves), 0 * before, before))
        left_out = bad if self.max_in_a_row is None else bad & (in_a_row <= self.max_in_a_row)
        total = shared["total"] + tf.cast(bad, tf.int64)
        return self.carrying(left_out=left_out), {"in_a_row": in_a_row, "total": total}

    def step(self, at: LeafStep) -> tuple[LeafStep, Slots]:
        return stepping_unless(at, self.left_out)

    @classmethod
    def variants(cls) -> list[Rule]:
        from tfexplicit.chain import Chain
        from tfexplicit.rules.adam import Adam

        return [cls(), Chain(cls(max_in_a_row=2), Adam(0.1))]
