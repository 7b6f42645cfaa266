"""Schedules that Keras lacks, for any numeric argument of a rule."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from tfexplicit.hyperparameters import as_float64, current_value, is_function, is_number
from tfexplicit.periods import expect_count


@dataclass(frozen=True)
class Warmup:
    """From `start` to `target` in a straight line over `warmup_steps` updates, then `target`.

    `Adam(learning_rate=Warmup(1e-3, 1000))`. If `target` is a Keras schedule or a function of the
    step, the line ends at its first value and it begins to run after the warm-up.

    Gives a float64 scalar; the step counts the updates made before, as for a Keras schedule.
    """

    target: Any
    warmup_steps: int
    start: float = 0.0

    def __post_init__(self) -> None:
        expect_count("Warmup", "warmup_steps", self.warmup_steps)
        if not is_number(self.start):
            raise TypeError(f"Warmup: `start` must be a number, got {self.start!r}.")

    def __call__(self, step: Any) -> Any:
        step = tf.cast(step, tf.int64)
        since = tf.maximum(step - self.warmup_steps, 0)
        target = current_value(self.target, since) if is_function(self.target) else self.target
        part = tf.minimum(as_float64(step) / self.warmup_steps, 1.0)
        return self.start + (as_float64(target) - self.start) * part


@dataclass(frozen=True)
class OneCycle:
    """Up to `peak` and down again, once in `total_steps`, each way along half a cosine.

    Smith and Topin 2018, https://arxiv.org/abs/1708.07120, in the form and with the defaults of
    `torch.optim.lr_scheduler.OneCycleLR` and `optax.cosine_onecycle_schedule`: from
    `peak / div_factor` up during the first `rise` of the steps, then down to
    `peak / (div_factor * final_div_factor)`, where it stays.

    Gives a float64 scalar; the step counts the updates made before, as for a Keras schedule.
    """

    peak: float
    total_steps: int
    rise: float = 0.3
    div_factor: float = 25.0
    final_div_factor: float = 1e4

    def __post_init__(self) -> None:
        expect_count("OneCycle", "total_steps", self.total_steps)
        for name in ("peak", "rise", "div_factor", "final_div_factor"):
            value = getattr(self, name)
            if not is_number(value):
                raise TypeError(f"OneCycle: `{name}` must be a number, got {value!r}.")
        if not 0.0 < self.rise < 1.0:
            raise ValueError(f"OneCycle: `rise` must be between 0 and 1, got {self.rise!r}.")

    def __call__(self, step: Any) -> Any:
        step = as_float64(step)
        top = self.rise * self.total_steps
        first = self.peak / self.div_factor
        up = _half_cosine(first, self.peak, step / top)
        last = first / self.final_div_factor
        down = _half_cosine(self.peak, last, (step - top) / (self.total_steps - top))
        return tf.where(step < top, up, down)


def _half_cosine(start: float, end: float, part: Any) -> Any:
    part = tf.clip_by_value(part, 0.0, 1.0)
    return end + (start - end) / 2 * (1 + tf.cos(math.pi * part))
