"""The conditional gradient method, which keeps each leaf inside a ball."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from tfexplicit.hyperparameters import Fraction, NonNegative
from tfexplicit.moments import root, squared
from tfexplicit.rule import Rule, Slots


def conditional_gradient_step(leaf: Any, vertex: Any, learning_rate: Any, lambda_: Any) -> Any:
    """What to subtract: Frank and Wolfe 1956; Ravi et al. 2018, https://arxiv.org/abs/1803.06453

    `vertex` is where the unit ball is highest along the gradient. The leaf keeps the share
    `learning_rate` of itself, and the rest goes to the vertex that is opposite, of a ball with
    the radius `lambda_`.
    """
    share = tf.cast(1 - learning_rate, leaf.dtype)
    return share * (leaf + tf.cast(lambda_, leaf.dtype) * vertex)


def frobenius_vertex(grad: Any, epsilon: Any) -> Any:
    norm = root(tf.reduce_sum(squared(grad)))
    return grad / (norm + tf.cast(epsilon, grad.dtype))


def nuclear_vertex(grad: Any) -> Any:
    """The outer product of the first singular vectors; 0 where the gradient is 0."""
    moves = tf.reduce_any(tf.not_equal(grad, 0))
    # The decomposition of a zero matrix has no gradient.
    safe = tf.where(moves, grad, tf.eye(*grad.shape, dtype=grad.dtype))
    _, left, right = tf.linalg.svd(safe)
    vertex = tf.matmul(left[:, :1], right[:, :1], adjoint_b=True)
    return tf.where(moves, vertex, tf.zeros_like(vertex))


@dataclass(frozen=True, eq=False, repr=False)
class ConditionalGradient(Rule):
    """Arguments, defaults and numerics of `ConditionalGradient` of TensorFlow Addons.

    Ravi et al. 2018, https://arxiv.org/abs/1803.06453

    `ord` is the norm of the ball: "fro" for any leaf, or "nuclear", which is the same for scalars
    and vectors, and takes matrices. A nuclear vertex needs no `epsilon`. A larger `learning_rate`
    makes smaller steps: 1 makes none. There are no slots.

    Raises:
        ValueError: `ord` is another one, or "nuclear" meets a leaf of more than two dimensions.
    """

    learning_rate: Fraction
    lambda_: NonNegative = 0.01
    epsilon: NonNegative = 1e-7
    ord: str = "fro"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.ord not in ("fro", "nuclear"):
            raise ValueError(
                f'ConditionalGradient: `ord` must be "fro" or "nuclear", got {self.ord!r}.'
            )

    def begin(self, path: str, leaf: Any, target: Any) -> Slots:
        if self.ord == "nuclear" and len(leaf.shape) > 2:
            raise ValueError(
                f'ConditionalGradient: ord="nuclear" takes leaves of at most two dimensions, but '
                f'{path} has shape {tuple(leaf.shape)}. Use ord="fro" for it.'
            )
        return super().begin(path, leaf, target)

    def apply(self, slots: Slots, leaf: Any, grad: Any, step: Any) -> tuple[Any, Slots]:
        if self.ord == "nuclear" and len(leaf.shape) == 2:
            # A gradient made dense from slices does not know how many rows it has.
            vertex = nuclear_vertex(tf.ensure_shape(grad, leaf.shape))
        else:
            vertex = frobenius_vertex(grad, self.epsilon)
        return conditional_gradient_step(leaf, vertex, self.learning_rate, self.lambda_), slots

    @classmethod
    def variants(cls) -> list[Rule]:
        return [cls(0.999, lambda_=4.0), cls(0.999, lambda_=5.0, ord="nuclear")]
