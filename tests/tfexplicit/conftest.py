"""Shared by the runtime's tests: a quiet TensorFlow, a small network, how far results differ."""

from __future__ import annotations

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf


class Network:
    """Two layers on fixed data, as explicit variables or as plain values."""

    def __init__(self, dtype: str) -> None:
        rng = np.random.default_rng(0)
        self.dtype = dtype
        self.x = tf.constant(rng.normal(size=(16, 3)), dtype)
        self.y = tf.constant(rng.normal(size=(16, 1)), dtype)
        shapes = ((3, 5), (5,), (5, 1), (1,))
        self.start = [rng.normal(size=shape).astype(dtype) for shape in shapes]

    def variables(self) -> list[tf.Variable]:
        return [tf.Variable(value, name=f"w{i}") for i, value in enumerate(self.start)]

    def loss(self, weights: Sequence[Any]) -> Any:
        hidden = tf.tanh(tf.matmul(self.x, weights[0]) + weights[1])
        # A factor that makes the gradients large enough for clipping to matter.
        return 30 * tf.reduce_mean((tf.matmul(hidden, weights[2]) + weights[3] - self.y) ** 2)

    def train_with(
        self, weights: Sequence[Any], apply: Callable[[list[Any]], Any], steps: int = 200
    ) -> list[np.ndarray]:
        """`apply(grads)` at each step; the weights afterwards."""

        @tf.function
        def step() -> None:
            with tf.GradientTape() as tape:
                loss = self.loss(weights)
            apply(tape.gradient(loss, weights))

        for _ in range(steps):
            step()
        return [weight.numpy() for weight in weights]


@pytest.fixture(scope="module")
def network() -> type[Network]:
    return Network


def largest_relative_difference(ours: Sequence[Any], theirs: Sequence[Any]) -> float:
    differences = [
        np.max(np.abs(np.asarray(a) - np.asarray(b)) / np.maximum(np.abs(np.asarray(b)), 1e-3))
        for a, b in zip(ours, theirs, strict=True)
    ]
    return float(max(differences))


@pytest.fixture(scope="session")
def relative_difference() -> Callable[[Sequence[Any], Sequence[Any]], float]:
    return largest_relative_difference


@pytest.fixture(scope="session")
def environment() -> dict[str, str]:
    """For a program in a process of its own: the packages of this checkout and nothing else."""
    root = Path(__file__).parents[2]
    paths = f"{root}{os.pathsep}{root / 'codemod'}"
    return {"PYTHONPATH": paths, "PATH": "", "TF_CPP_MIN_LOG_LEVEL": "3"}
