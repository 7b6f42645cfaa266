"""AdamW without a learning rate schedule: averaging takes its place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import tensorflow as tf

from tfexplicit.hyperparameters import Fraction, NonNegative, PositiveFraction
from tfexplicit.moments import bias_correction, moving_average, root, squared
from tfexplicit.rule import LeafStep, Rule, Slots


def averaged(leaf: Any, fast: Any, beta_1: Any) -> Any:
    """The average x, out of the leaf y = (1 - beta_1) z + beta_1 x."""
    beta = tf.cast(beta_1, leaf.dtype)
    return (leaf - (1 - beta) * fast) / beta


@dataclass(frozen=True, eq=False, repr=False)
class ScheduleFreeAdamW(Rule):
    """Arguments and defaults of `keras.optimizers.ScheduleFreeAdamW`, and the paper's algorithm.

    Defazio et al. 2024, algorithm 1, https://arxiv.org/abs/2405.15682. The leaves are where
    gradients are taken (y); evaluate and save `tx.eval_params(opt_state, model)` (x). An iterate
    counts in the average by the square of its learning rate. At a constant rate that is Keras'
    1 / step, but Keras on TensorFlow mixes up the iterates before and after the step.
    `weight_decay` is decoupled. The learning rate rises linearly for `warmup_steps`.

    Slots `momentum` (the iterate z; it starts as the leaf) and `velocity`: shape and dtype (at
    least float32) of the leaf; `weight_sum`: a scalar of that dtype.
    """

    elementwise: ClassVar[bool] = True

    learning_rate: NonNegative = 0.0025
    beta_1: PositiveFraction = 0.9
    beta_2: Fraction = 0.999
    epsilon: NonNegative = 1e-8
    warmup_steps: int = 0
    weight_decay: NonNegative = 0.0

    def init(self, leaf: Any) -> Slots:
        zeros = {name: tf.zeros_like(leaf) for name in ("momentum", "velocity")}
        return {**zeros, "weight_sum": tf.zeros([], leaf.dtype)}

    def step(self, at: LeafStep) -> tuple[LeafStep, Slots]:
        rule = self.carrying(**at.hyper)
        leaf, grad = at.leaf, at.grad
        dtype = leaf.dtype
        fast = tf.where(at.is_first, leaf, at.slots["momentum"])
        average = averaged(leaf, fast, rule.beta_1)
        rate = tf.cast(rule.learning_rate * self._warmup(at.step), dtype)
        velocity = moving_average(at.slots["velocity"], squared(grad), rule.beta_2)
        correction = tf.cast(bias_correction(rule.beta_2, at.step), dtype)
        scale = root(velocity / correction) + tf.cast(rule.epsilon, dtype)
        fast = fast - rate * (grad / scale + tf.cast(rule.weight_decay, dtype) * leaf)
        weight_sum = at.slots["weight_sum"] + tf.square(rate)
        share = tf.math.divide_no_nan(tf.square(rate), weight_sum)
        average = (1 - share) * average + share * fast
        beta = tf.cast(rule.beta_1, dtype)
        slots = {"momentum": fast, "velocity": velocity, "weight_sum": weight_sum}
        return at.moving_to((1 - beta) * fast + beta * average), at.kept(slots)

    def _warmup(self, step: Any) -> Any:
        if self.warmup_steps == 0:
            return tf.ones([], tf.float64)
        return tf.minimum(tf.cast(step, tf.float64) / self.warmup_steps, 1)

    @classmethod
    def variants(cls) -> list[Rule]:
        return [cls(), cls(warmup_steps=3, weight_decay=0.1)]
