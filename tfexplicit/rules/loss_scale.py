"""Scale the loss, so that small gradients do not become zero in float16."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import tensorflow as tf

from tfexplicit.hyperparameters import is_number
from tfexplicit.non_finite import all_finite, any_steps, no_steps_left_out, stepping_unless
from tfexplicit.periods import expect_count
from tfexplicit.rule import LeafStep, Rule, Slots


@dataclass(frozen=True, eq=False, repr=False)
class LossScale(Rule):
    """Divides the gradient by the scale that `tx.scale_loss(opt_state, loss)` multiplied with.

    Micikevicius et al. 2018, https://arxiv.org/abs/1710.03740. First in a chain, or inside
    `MixedPrecision`: `MixedPrecision(Chain(LossScale(), Adam()))`. `tx.minimize` scales by itself.
    A step with an infinity or a NaN in any gradient is left out and halves the scale; after
    `dynamic_growth_steps` finite steps in a row it doubles, as in Keras' `LossScaleOptimizer`.
    The scale may fall below 1, but not out of its bounds. Shared scalars `loss_scale` (float32) and
    `finite_in_a_row` (int64); the slot `skipped` counts the steps left out, per leaf.

    Args:
        initial_scale: a power of two, so that scaling does not round.
        dynamic_growth_steps: finite steps until the scale doubles.
        dynamic: False keeps the scale as it is and leaves no step out, as Keras'
            `loss_scale_factor`.
        min_scale: the lower bound.
        max_scale: the upper bound.

    Raises:
        ValueError: from `update`, a rule with a learning rate stands before it.
    """

    moves: ClassVar[bool] = False
    rowwise: ClassVar[bool] = True
    elementwise: ClassVar[bool] = True

    initial_scale: float = 2.0**15
    dynamic_growth_steps: int = 2000
    dynamic: bool = True
    min_scale: float = 2.0**-14
    max_scale: float = 2.0**24
    scale: Any = field(default=None, init=False)
    left_out: Any = field(default=None, init=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        expect_count("LossScale", "dynamic_growth_steps", self.dynamic_growth_steps)
        for name in ("initial_scale", "min_scale", "max_scale"):
            value = getattr(self, name)
            if not is_number(value):
                raise TypeError(f"LossScale: `{name}` must be a number, got {value!r}.")
            if not value > 0:
                raise ValueError(f"LossScale: `{name}` must be above 0, got {value!r}.")
        if not self.min_scale <= self.initial_scale <= self.max_scale:
            raise ValueError(
                f"LossScale: `initial_scale` must be between {self.min_scale:g} and "
                f"{self.max_scale:g}, got {self.initial_scale!r}."
            )

    def init(self, leaf: Any) -> Slots:
        return no_steps_left_out() if self.dynamic else {}

    def shared(self) -> Slots:
        scale = tf.constant(self.initial_scale, tf.float32)
        return {"loss_scale": scale, "finite_in_a_row": tf.zeros([], tf.int64)}

    def seeing(self, leaves: Sequence[LeafStep], shared: Slots) -> tuple[LossScale, Slots]:
        scale = shared["loss_scale"]
        if not self.dynamic:
            return self.carrying(scale=scale), shared
        steps, finite = any_steps(leaves), all_finite(leaves)
        seen = self.carrying(scale=scale, left_out=steps & ~finite)
        new = self._after(shared, finite)
        return seen, {name: tf.where(steps, new[name], shared[name]) for name in shared}

    def _after(self, shared: Slots, finite: Any) -> Slots:
        scale = shared["loss_scale"]
        in_a_row = shared["finite_in_a_row"] + 1
        grows = tf.equal(in_a_row, self.dynamic_growth_steps)
        grown = tf.where(grows, tf.minimum(scale * 2, self.max_scale), scale)
        shrunk = tf.maximum(scale / 2, self.min_scale)
        return {
            "loss_scale": tf.where(finite, grown, shrunk),
            "finite_in_a_row": tf.where(finite & ~grows, in_a_row, tf.zeros_like(in_a_row)),
        }

    def step(self, at: LeafStep) -> tuple[LeafStep, Slots]:
        if at.learning_rate is not None:
            raise ValueError(
                f"LossScale at {at.path!r}: a rule before it in the chain has stepped with the "
                "scaled gradient. Write tx.Chain(tx.LossScale(), tx.Adam(...))."
            )
        at = at.with_grad(at.grad / tf.cast(self.scale, at.grad.dtype))
        return stepping_unless(at, self.left_out) if self.dynamic else (at, {})

    @classmethod
    def variants(cls) -> list[Rule]:
        from tfexplicit.chain import Chain
        from tfexplicit.rules.adam import Adam

        return [cls(8.0, dynamic=False), Chain(cls(4.0, dynamic_growth_steps=2), Adam(0.1))]
