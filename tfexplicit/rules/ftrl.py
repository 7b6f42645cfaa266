"""FTRL: follow the regularised leader."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import tensorflow as tf

from tfexplicit.hyperparameters import Bounds, NonNegative, check
from tfexplicit.keras_optimizers.form import KerasForm
from tfexplicit.moments import squared
from tfexplicit.rule import LeafStep, Rule, Slots


def ftrl_step(
    slots: Slots,
    leaf: Any,
    grad: Any,
    learning_rate: Any,
    power: Any,
    l1: Any,
    l2: Any,
    shrink: Any,
) -> tuple[Any, Slots]:
    """`(the leaf afterwards, new slots)`: McMahan et al. 2013, algorithm 1,
    https://research.google.com/pubs/archive/41159.pdf, with `l2` as half of its lambda_2.

    `shrink` (L2 shrinkage) acts on the gradient and not on its sum of squares. The leaf follows
    from the sums alone: where there has been no gradient, it becomes 0.
    """
    dtype = grad.dtype
    learning_rate = tf.cast(learning_rate, dtype)
    old, new = slots["accumulator"], slots["accumulator"] + squared(grad)
    old_scale, scale = _raised(old, -power), _raised(new, -power)
    linear = slots["linear"] + (
        (grad + tf.cast(2 * shrink, dtype) * leaf) - (scale - old_scale) / learning_rate * leaf
    )
    quadratic = scale / learning_rate + 2 * tf.cast(l2, dtype)
    value = tf.math.divide_no_nan(_limited(linear, l1) - linear, quadratic)
    return value, {"accumulator": new, "linear": linear}


def _raised(value: Any, power: Any) -> Any:
    """A power of a sum of squares; at 0 its gradient is 0, where that of `pow` is NaN."""
    real = tf.math.real(value)
    is_zero = tf.equal(real, 0)
    safe = tf.where(is_zero, tf.ones_like(real), real)
    # The usual power; the differences of large sums show how exact it is.
    is_root = tf.equal(power, 0.5)
    raised = tf.where(is_root, tf.sqrt(safe), tf.pow(safe, tf.cast(power, real.dtype)))
    # 0 to the power of 0 is 1.
    at_zero = tf.where(tf.equal(power, 0), tf.ones_like(raised), tf.zeros_like(raised))
    return tf.cast(tf.where(is_zero, at_zero, raised), value.dtype)


def _limited(value: Any, limit: Any) -> Any:
    """At most `limit` in absolute value."""
    if not value.dtype.is_complex:
        limit = tf.cast(limit, value.dtype)
        return tf.clip_by_value(value, -limit, limit)
    size = tf.abs(value)
    scale = tf.minimum(tf.math.divide_no_nan(tf.cast(limit, size.dtype), size), 1)
    return value * tf.cast(scale, value.dtype)


@dataclass(frozen=True, eq=False, repr=False)
class Ftrl(Rule):
    """Arguments, defaults and numerics of `keras.optimizers.Ftrl`.

    McMahan et al. 2013, algorithm 1, https://research.google.com/pubs/archive/41159.pdf

    Slots `accumulator`, `initial_accumulator_value` at first, and `linear`: shape and dtype (at
    least float32) of the leaf.
    """

    rowwise: ClassVar[bool] = True
    elementwise: ClassVar[bool] = True

    looks_at_leaf: ClassVar[bool] = True

    keras: ClassVar[KerasForm] = KerasForm(
        "Ftrl", slots={"accumulator": "_accumulators", "linear": "_linears"}
    )

    learning_rate: NonNegative = 0.001
    learning_rate_power: Annotated[Any, Bounds(high=0.0)] = -0.5
    initial_accumulator_value: float = 0.1
    l1_regularization_strength: NonNegative = 0.0
    l2_regularization_strength: NonNegative = 0.0
    l2_shrinkage_regularization_strength: NonNegative = 0.0
    beta: NonNegative = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        name = "initial_accumulator_value"
        check("Ftrl", name, self.initial_accumulator_value, Bounds(low=0.0))

    def init(self, leaf: Any) -> Slots:
        # As in `Adagrad`, rounded to float32 for a float64 leaf too.
        start = tf.cast(self.initial_accumulator_value, leaf.dtype)
        return {"accumulator": tf.fill(leaf.shape, start), "linear": tf.zeros_like(leaf)}

    def step(self, at: LeafStep) -> tuple[LeafStep, Slots]:
        rule = self.carrying(**at.hyper)
        value, slots = ftrl_step(
            at.slots,
            at.leaf,
            at.grad,
            rule.learning_rate,
            rule.learning_rate_power,
            rule.l1_regularization_strength,
            rule.l2_regularization_strength + rule.beta / (2 * rule.learning_rate),
            rule.l2_shrinkage_regularization_strength,
        )
        return at.moving_to(value), at.kept(slots)

    @classmethod
    def variants(cls) -> list[Rule]:
        regularised = {
            "l1_regularization_strength": 0.002,
            "l2_regularization_strength": 0.001,
            "l2_shrinkage_regularization_strength": 0.002,
            "beta": 0.5,
        }
        return [cls(), cls(learning_rate=0.1, learning_rate_power=-0.75, **regularised)]
