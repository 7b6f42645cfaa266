"""Adagrad with proximal L1 and L2 penalties."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import tensorflow as tf

from tfexplicit.hyperparameters import Bounds, NonNegative, as_float64, check
from tfexplicit.moments import root, squared
from tfexplicit.proximal import proximal
from tfexplicit.rule import Rule, Slots


def proximal_adagrad_step(
    slots: Slots, leaf: Any, grad: Any, learning_rate: Any, l1: Any, l2: Any
) -> tuple[Any, Slots]:
    """`(new leaf, new slots)`: Duchi et al. 2011, https://jmlr.org/papers/v12/duchi11a.html, with
    the forward-backward splitting of Duchi and Singer 2009, section 5.

    The hyperparameters are float64 scalars. Complex leaves use |grad|^2.
    """
    accumulator = slots["accumulator"] + squared(grad)
    spread = root(accumulator)
    # Where no gradient has ever come, the accumulator may be 0, and the leaf stays.
    seen = tf.math.real(spread) > 0
    safe = tf.where(seen, tf.math.real(spread), 1)
    rate = tf.where(seen, tf.cast(learning_rate, safe.dtype) / safe, 0)
    moved = proximal(leaf - tf.cast(rate, grad.dtype) * grad, rate, l1, l2)
    return moved, {"accumulator": accumulator}


@dataclass(frozen=True, eq=False, repr=False)
class ProximalAdagrad(Rule):
    """Arguments, defaults and numerics of `ProximalAdagrad` of TensorFlow Addons.

    Duchi et al. 2011, https://jmlr.org/papers/v12/duchi11a.html, with the forward-backward
    splitting of Duchi and Singer 2009.

    The slot `accumulator` has the leaf's shape and dtype (at least float32) and starts at
    `initial_accumulator_value`.
    """

    rowwise: ClassVar[bool] = True
    elementwise: ClassVar[bool] = True

    learning_rate: NonNegative = 0.001
    initial_accumulator_value: float = 0.1
    l1: NonNegative = 0.0
    l2: NonNegative = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        start = self.initial_accumulator_value
        check("ProximalAdagrad", "initial_accumulator_value", start, Bounds(low=0.0))

    def init(self, leaf: Any) -> Slots:
        start = tf.cast(as_float64(self.initial_accumulator_value), leaf.dtype)
        return {"accumulator": tf.fill(leaf.shape, start)}

    def apply(self, slots: Slots, leaf: Any, grad: Any, step: Any) -> tuple[Any, Slots]:
        moved, new = proximal_adagrad_step(slots, leaf, grad, self.learning_rate, self.l1, self.l2)
        return leaf - moved, new

    @classmethod
    def variants(cls) -> list[Rule]:
        return [cls(), cls(l1=1e-4, l2=1e-4), cls(initial_accumulator_value=0.0)]
