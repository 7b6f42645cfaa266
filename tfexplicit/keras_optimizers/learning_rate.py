"""The learning rate of a Keras optimizer, read live."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from tfexplicit.arrays import is_variable, raw
from tfexplicit.keras_optimizers.recognise import is_legacy
from tfexplicit.keras_step import called_with_step


@dataclass(frozen=True, eq=False)
class LearningRateOf:
    """A function of the step: whatever the optimizer's learning rate is when it is called."""

    optimizer: Any

    def __call__(self, step: Any) -> Any:
        source = self.source
        if hasattr(source, "get_config"):
            return called_with_step(source, step)
        return source() if callable(source) and not is_variable(source) else source

    @property
    def source(self) -> Any:
        """A variable, number, schedule or function of nothing."""
        if is_legacy(self.optimizer):
            return self.optimizer._hyper.get("learning_rate")
        return self.optimizer._learning_rate

    @property
    def is_schedule(self) -> bool:
        return hasattr(self.source, "get_config")

    def assign(self, value: Any) -> bool:
        """Set the optimizer's own variable, if that is what it has."""
        if not is_variable(self.source):
            return False
        variable = raw(self.source)
        variable.assign(tf.cast(value, variable.dtype))
        return True

    @property
    def __name__(self) -> str:
        return f"learning_rate of the Keras {type(self.optimizer).__name__}"
