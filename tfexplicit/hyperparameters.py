"""Numeric arguments of rules: numbers, tensors, variables, schedules, functions of the step."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias, get_type_hints

import numpy as np
import tensorflow as tf

from tfexplicit.arrays import is_variable, raw
from tfexplicit.containers import is_module
from tfexplicit.keras_step import called_with_step
from tfexplicit.signatures import takes_argument


@dataclass(frozen=True)
class Bounds:
    """Marks a rule's field as a hyperparameter, and says which numbers make sense."""

    low: float = -math.inf
    high: float = math.inf
    low_excluded: bool = False

    def admit(self, number: float) -> bool:
        above = number > self.low if self.low_excluded else number >= self.low
        return above and number <= self.high

    def __str__(self) -> str:
        if self.low_excluded and self.high < math.inf:
            return f"above {self.low:g} and at most {self.high:g}"
        if self.low == -math.inf and self.high < math.inf:
            return f"at most {self.high:g}"
        if self.high < math.inf:
            return f"between {self.low:g} and {self.high:g}"
        return f"{'above' if self.low_excluded else 'at least'} {self.low:g}"


Number: TypeAlias = Annotated[Any, Bounds()]
NonNegative: TypeAlias = Annotated[Any, Bounds(low=0.0)]
Positive: TypeAlias = Annotated[Any, Bounds(low=0.0, low_excluded=True)]
Fraction: TypeAlias = Annotated[Any, Bounds(low=0.0, high=1.0)]
PositiveFraction: TypeAlias = Annotated[Any, Bounds(low=0.0, high=1.0, low_excluded=True)]


def declared(rule_class: type) -> dict[str, Bounds]:
    """The hyperparameters of a rule class: the fields annotated with one of the types above."""
    if rule_class not in _declared:
        _declared[rule_class] = _marked_fields(rule_class)
    return _declared[rule_class]


_declared: dict[type, dict[str, Bounds]] = {}


def _marked_fields(rule_class: type) -> dict[str, Bounds]:
    hints = get_type_hints(rule_class, include_extras=True)
    marks = {name: getattr(hint, "__metadata__", ()) for name, hint in hints.items()}
    found = {name: mark[0] for name, mark in marks.items() if mark and isinstance(mark[0], Bounds)}
    for name in found.keys() & {"frozen", "rested", "taken"}:
        raise TypeError(
            f"{rule_class.__name__}: a hyperparameter cannot be named {name!r}, under which a "
            "state keeps something else of every leaf. Give it another name."
        )
    return found


def is_number(value: object) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def is_zero(value: object) -> bool:
    """True for the number 0; False for what may become another."""
    return is_number(value) and float(value) == 0.0  # type: ignore[arg-type]


def check(owner: str, name: str, value: Any, bounds: Bounds) -> None:
    """Raise a `TypeError` or `ValueError` that names the argument and what it got."""
    if is_number(value):
        if not bounds.admit(float(value)):
            raise ValueError(f"{owner}: `{name}` must be {bounds}, got {value!r}.")
    elif is_module(value) or not (callable(value) or is_variable(value) or tf.is_tensor(value)):
        raise TypeError(
            f"{owner}: `{name}` must be a number, a scalar tensor or variable, a Keras schedule or "
            f"a function of the step, got {type(value).__name__}: {value!r}."
        )
    elif (is_variable(value) or tf.is_tensor(value)) and raw(value).shape.rank not in (0, None):
        raise ValueError(
            f"{owner}: `{name}` must be a scalar, got shape {tuple(raw(value).shape)}."
        )


def as_float64(value: Any) -> Any:
    """Hyperparameters travel as float64, so that `1 - beta` is what Python floats give."""
    if is_number(value):
        return tf.constant(float(value), tf.float64)
    return tf.cast(tf.convert_to_tensor(raw(value)), tf.float64)


def is_function(source: Any) -> bool:
    """True for a Keras schedule and any other function of the step."""
    return callable(source) and not is_variable(source) and not tf.is_tensor(source)


def current_value(source: Any, step: Any) -> Any:
    """What a schedule or function gives at this step, as a float64 scalar.

    Keras accepts a function of nothing as a learning rate too.
    `step` is the number of updates made before this one, as Keras passes it to a schedule.
    """
    return as_float64(called_with_step(source, step) if takes_argument(source) else source())
