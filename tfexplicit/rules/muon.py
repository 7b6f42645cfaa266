"""Muon: matrices step by an orthogonalised momentum, all other leaves by AdamW."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import tensorflow as tf

from tfexplicit.arrays import shape_of
from tfexplicit.hyperparameters import Fraction, NonNegative
from tfexplicit.keras_optimizers.form import KerasForm
from tfexplicit.rule import LeafStep, Rule, Slots
from tfexplicit.rules.adam import adam_step
from tfexplicit.rules.adamw import decay_step

_ADAM = frozenset(("adam_beta_1", "adam_beta_2", "adam_weight_decay", "epsilon", "adam_lr_ratio"))


def orthogonalised(matrix: Any, steps: int, a: float, b: float, c: float) -> Any:
    """Nearly the orthogonal factor of a matrix, by Newton-Schulz iteration of degree 5.

    Jordan et al. 2024, https://kellerjordan.github.io/posts/muon/
    """
    tall = matrix.shape[0] > matrix.shape[1]
    x = tf.linalg.adjoint(matrix) if tall else matrix
    # Frobenius norm; the epsilon is not a hyperparameter in Keras either.
    x = x / (tf.cast(tf.norm(x), x.dtype) + tf.cast(1e-7, x.dtype))
    for _ in range(steps):
        gram = tf.matmul(x, tf.linalg.adjoint(x))
        x = a * x + tf.matmul(b * gram + tf.matmul(c * gram, gram), x)
    return tf.linalg.adjoint(x) if tall else x


def muon_step(
    momentum: Any,
    grad: Any,
    decay: Any,
    nesterov: bool,
    steps: int,
    coefficients: tuple[float, float, float],
) -> tuple[Any, Any]:
    """`(direction, new momentum)`, the direction being close to an orthogonal matrix."""
    momentum = momentum + (grad + momentum * tf.cast(decay - 1, grad.dtype))
    ahead = grad + tf.cast(decay, grad.dtype) * momentum if nesterov else momentum
    return orthogonalised(ahead, steps, *coefficients), momentum


@dataclass(frozen=True, eq=False, repr=False)
class Muon(Rule):
    """Arguments, defaults and numerics of `keras.optimizers.Muon`.

    Jordan et al. 2024, https://kellerjordan.github.io/posts/muon/

    AdamW steps the leaves that are no matrices, those with "embedding" in their path (with
    `exclude_embeddings`), and those whose path one of the regular expressions `exclude_layers` is
    found in. Of a Keras variable the path is its own `path`, of others that in the model.
    Weight decay is decoupled: `weight_decay` for Muon, `adam_weight_decay` for AdamW. `rms_rate`
    makes steps as large as those of AdamW for any shape; None leaves it out.

    Slots `momentum`, for AdamW also `velocity`: shape and dtype (at least float32) of the leaf.
    """

    keras: ClassVar[KerasForm] = KerasForm(
        "Muon",
        slots={"momentum": "momentums", "velocity": "adam_velocities"},
        with_weight_decay="Muon",
    )

    learning_rate: NonNegative = 0.001
    adam_beta_1: Fraction = 0.9
    adam_beta_2: Fraction = 0.999
    adam_weight_decay: NonNegative = 0.004
    epsilon: NonNegative = 1e-7
    weight_decay: NonNegative = 0.004
    exclude_layers: Sequence[str] = ()
    exclude_embeddings: bool = True
    # One by one they are not to be adjusted: the iteration would diverge.
    muon_a: float = 3.4445
    muon_b: float = -4.775
    muon_c: float = 2.0315
    adam_lr_ratio: NonNegative = 1.0
    momentum: Fraction = 0.95
    ns_steps: int = 5
    nesterov: bool = True
    rms_rate: float | None = 0.2

    def by_adam(self, path: str, target: Any) -> bool:
        """True for a leaf that AdamW steps."""
        path = getattr(target, "path", path)
        return (
            len(shape_of(target)) != 2
            or (self.exclude_embeddings and "embedding" in path.lower())
            or any(re.search(pattern, path) for pattern in self.exclude_layers)
        )

    def governing(self, path: str, target: Any) -> set[str]:
        if self.by_adam(path, target):
            return {"learning_rate", *_ADAM}
        return set(self.hyperparameters()) - _ADAM

    def begin(self, path: str, leaf: Any, target: Any) -> Slots:
        names = ("momentum", "velocity") if self.by_adam(path, target) else ("momentum",)
        return {name: tf.zeros_like(leaf) for name in names}

    def step(self, at: LeafStep) -> tuple[LeafStep, Slots]:
        rule = self.carrying(**at.hyper)
        if self.by_adam(at.path, at.target):
            subtract, slots = rule._adam_part(at.slots, at.grad, at.step)
            decay = rule.adam_weight_decay
        else:
            subtract, slots = rule._muon_part(at.slots, at.grad)
            decay = rule.weight_decay
        moved = (at.leaf - decay_step(at.leaf, rule.learning_rate, decay)) - subtract
        return at.moving_to(moved), at.kept(slots)

    def _adam_part(self, slots: Slots, grad: Any, step: Any) -> tuple[Any, Slots]:
        rate = self.learning_rate * self.adam_lr_ratio
        return adam_step(slots, grad, step, rate, self.adam_beta_1, self.adam_beta_2, self.epsilon)

    def _muon_part(self, slots: Slots, grad: Any) -> tuple[Any, Slots]:
        direction, momentum = muon_step(
            slots["momentum"],
            grad,
            self.momentum,
            self.nesterov,
            self.ns_steps,
            (self.muon_a, self.muon_b, self.muon_c),
        )
        subtract = tf.cast(self.learning_rate, grad.dtype) * direction
        if self.rms_rate is not None:
            longest = tf.cast(max(grad.shape), grad.dtype)
            subtract = subtract * tf.sqrt(longest) * tf.cast(self.rms_rate, grad.dtype)
        return subtract, {"momentum": momentum}

    @classmethod
    def variants(cls) -> list[Rule]:
        return [cls(), cls(nesterov=False, rms_rate=None)]
