"""COCOB: steps found by betting, with no learning rate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import tensorflow as tf

from tfexplicit.hyperparameters import Bounds
from tfexplicit.rule import Rule, Slots


def cocob_step(slots: Slots, grad: Any, alpha: Any) -> tuple[Any, Slots]:
    """`(step to subtract, new slots)`: Orabona and Tommasi 2017, algorithm 2 (COCOB-Backprop),
    https://arxiv.org/abs/1705.07795

    The bet of an element is how far it stands from where it started. The largest gradient starts
    at 1e-8, as in TensorFlow Addons.
    """
    size = tf.abs(grad)
    largest = tf.maximum(tf.maximum(slots["largest"], size), tf.constant(1e-8, grad.dtype))
    grad_sum = slots["grad_sum"] + grad
    size_sum = slots["size_sum"] + size
    reward = tf.maximum(slots["reward"] - grad * slots["bet"], 0)
    restrained = tf.maximum(size_sum + largest, tf.cast(alpha, grad.dtype) * largest)
    bet = -grad_sum / restrained * ((reward + largest) / largest)
    new = {
        "largest": largest,
        "grad_sum": grad_sum,
        "size_sum": size_sum,
        "reward": reward,
        "bet": bet,
    }
    return slots["bet"] - bet, new


@dataclass(frozen=True, eq=False, repr=False)
class COCOB(Rule):
    """Arguments, defaults and numerics of `COCOB` of TensorFlow Addons. Real leaves only.

    Orabona and Tommasi 2017, https://arxiv.org/abs/1705.07795

    `alpha` holds back the first steps. Slots `largest`, `grad_sum`, `size_sum`, `reward` and `bet`:
    shape and dtype (at least float32) of the leaf.
    """

    rowwise: ClassVar[bool] = True
    elementwise: ClassVar[bool] = True
    takes_complex: ClassVar[bool] = False

    alpha: Annotated[Any, Bounds(low=1.0)] = 100.0

    def init(self, leaf: Any) -> Slots:
        names = ("largest", "grad_sum", "size_sum", "reward", "bet")
        return {name: tf.zeros_like(leaf) for name in names}

    def apply(self, slots: Slots, leaf: Any, grad: Any, step: Any) -> tuple[Any, Slots]:
        return cocob_step(slots, grad, self.alpha)
