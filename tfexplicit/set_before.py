"""What `adjust` has set, for the leaves that join the state later."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import tensorflow as tf

from tfexplicit import paths
from tfexplicit.composite import means


@dataclass
class SetBefore:
    """Numbers by the part and the name that `adjust` was given; the last one set counts."""

    numbers: dict[tuple[str, str], float] = field(default_factory=dict)

    def remember(self, prefix: str, name: str, number: float) -> None:
        self.numbers.pop((prefix, name), None)
        self.numbers[prefix, name] = number

    def applied(self, full: str, own_paths: Sequence[str], vector: Any) -> Any:
        """The vector of the hyperparameter `full` for leaves with these paths."""
        for (prefix, name), number in self.numbers.items():
            if means(full, name):
                mask = tf.constant([paths.is_under(path, prefix) for path in own_paths])
                vector = tf.where(mask, tf.constant(number, tf.float64), vector)
        return vector
