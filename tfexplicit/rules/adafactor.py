"""Adafactor: second moments kept as row and column means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import tensorflow as tf

from tfexplicit.hyperparameters import Bounds, NonNegative, Positive
from tfexplicit.keras_optimizers.form import KerasForm
from tfexplicit.moments import blended, root, squared
from tfexplicit.rule import Rule, Slots


def preconditioned(slots: Slots, grad: Any, epsilon: Any, beta: Any) -> tuple[Any, Slots]:
    """`(grad over the root of its second moment, new slots)`: Shazeer and Stern 2018, algorithms 4
    and 5, https://arxiv.org/abs/1804.04235. Leaves of rank 2 and more are factored over the last
    two axes; so is the root, which takes fewer passes over memory than that of each element.
    """
    squares = squared(grad)
    if "velocity" in slots:
        velocity = blended(slots["velocity"], squares + epsilon, beta)
        return grad * inverse_root(velocity), {"velocity": velocity}
    row = blended(slots["row"], tf.reduce_mean(squares, axis=-1) + epsilon, beta)
    column = blended(slots["column"], tf.reduce_mean(squares, axis=-2) + epsilon, beta)
    share = row / tf.reduce_mean(row, axis=-1, keepdims=True)
    by_row = grad * tf.expand_dims(inverse_root(share), -1)
    by_both = by_row * tf.expand_dims(inverse_root(column), -2)
    return by_both, {"row": row, "column": column}


def inverse_root(value: Any) -> Any:
    """Division by a complex number squares it, and the square of epsilon is zero."""
    return tf.cast(1 / tf.sqrt(tf.math.real(value)), value.dtype)


def root_mean_square(value: Any) -> Any:
    return root(tf.reduce_mean(squared(value)))


def at_least(value: Any, limit: Any) -> Any:
    """Of a real number, in the dtype of `value`."""
    return tf.cast(
        tf.maximum(tf.math.real(value), tf.cast(limit, value.dtype.real_dtype)), value.dtype
    )


@dataclass(frozen=True, eq=False, repr=False)
class Adafactor(Rule):
    """Arguments, defaults and numerics of `keras.optimizers.Adafactor`.

    Shazeer and Stern 2018, https://arxiv.org/abs/1804.04235

    With `relative_step` the learning rate is at most `1 / sqrt(step)`; without, it is used as it is
    (Keras goes on limiting it). The step is proportional to the size of the leaf.

    Slots of a leaf of shape (..., n, m): `row` (..., n) and `column` (..., m); of a leaf with fewer
    than two axes `velocity`, with its shape. Their dtype is that of the leaf, at least float32.
    """

    looks_at_leaf: ClassVar[bool] = True

    keras: ClassVar[KerasForm] = KerasForm(
        "Adafactor",
        slots={"row": "_r", "column": "_c", "velocity": "_v"},
        requires={"relative_step": True},
        in_tf_keras=False,
    )

    learning_rate: NonNegative = 0.001
    beta_2_decay: Annotated[Any, Bounds(high=0.0)] = -0.8
    epsilon_1: NonNegative = 1e-30
    epsilon_2: NonNegative = 0.001
    clip_threshold: Positive = 1.0
    relative_step: bool = True

    def init(self, leaf: Any) -> Slots:
        shape = leaf.shape
        if shape.rank < 2:
            return {"velocity": tf.zeros_like(leaf)}
        return {
            "row": tf.zeros(shape[:-1], leaf.dtype),
            "column": tf.zeros(shape[:-2] + shape[-1:], leaf.dtype),
        }

    def apply(self, slots: Slots, leaf: Any, grad: Any, step: Any) -> tuple[Any, Slots]:
        dtype = leaf.dtype
        count = tf.cast(step, dtype.real_dtype)
        rate = tf.cast(self.learning_rate, dtype.real_dtype)
        if self.relative_step:
            rate = tf.minimum(rate, 1 / tf.sqrt(count))
        size = at_least(root_mean_square(leaf), self.epsilon_2) * tf.cast(rate, dtype)
        beta = tf.cast(1 - tf.pow(count, tf.cast(self.beta_2_decay, count.dtype)), dtype)
        update, slots = preconditioned(slots, grad, tf.cast(self.epsilon_1, dtype), beta)
        clipped = root_mean_square(update) / tf.cast(self.clip_threshold, dtype)
        return (size / at_least(clipped, 1.0)) * update, slots

    @classmethod
    def variants(cls) -> list[Rule]:
        return [cls(), cls(relative_step=False, clip_threshold=0.5)]
