"""The step count as Keras 3 hands it to a schedule."""

from __future__ import annotations

from functools import cache
from typing import Any

from tfexplicit.keras_optimizers.recognise import is_keras_3


def called_with_step(function: Any, step: Any) -> Any:
    """`function(step)`, where a schedule of Keras 3 gets a Keras variable, as Keras gives it.

    The arithmetic of one promotes int64 and float to float32, where a tensor's raises or, divided
    by a number, is float64.
    """
    return function(_keras_count()(step) if _is_keras_3_schedule(function) else step)


def _is_keras_3_schedule(function: Any) -> bool:
    """Also one of a class of the user."""
    names = {base.__name__ for base in type(function).__mro__}
    return "LearningRateSchedule" in names and is_keras_3(function)


@cache
def _keras_count() -> Any:
    """The class, made where Keras is imported already: the program has a schedule of it."""
    import keras

    class Count(keras.Variable):  # type: ignore[misc]
        """Only the arithmetic: it holds the tensor, and makes no variable inside a trace."""

        def __init__(self, step: Any) -> None:
            super().__init__(step, dtype="int64", trainable=False, name="iterations")

        def _initialize(self, value: Any) -> None:
            self._value = value

    return Count
