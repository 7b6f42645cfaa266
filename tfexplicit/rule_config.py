"""A rule as plain data, for files, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import keras
import tensorflow as tf

from tfexplicit import schedules
from tfexplicit.hyperparameters import is_number
from tfexplicit.paths import suggestion
from tfexplicit.rule import Rule
from tfexplicit.rules import all_rules


def config_of(rule: Rule) -> dict[str, Any]:
    """`{"rule": class name, "arguments": {name: number, text, config or nested mapping}}`.

    Raises:
        TypeError: an argument is a function or variable, which no file can hold.
    """
    arguments = {
        name: _written(value, f"{type(rule).__name__}: `{name}`")
        for name, value in rule.arguments().items()
    }
    return {"rule": type(rule).__name__, "arguments": arguments}


def rule_from(config: Mapping[str, Any]) -> Rule:
    """The rule that `config_of` described; one of your own by its class name, once it is defined.

    Raises:
        ValueError: there is no rule of this name.
    """
    known = _known_rules()
    name = config["rule"]
    if name not in known:
        raise ValueError(
            f"there is no rule {name!r}. {suggestion(name, known)} If it is one of yours, import "
            "the module that defines it first."
        )
    arguments = {key: _read(value) for key, value in config["arguments"].items()}
    return known[name](**arguments)


def _known_rules() -> dict[str, type[Rule]]:
    known: dict[str, type[Rule]] = {}
    waiting = list(Rule.__subclasses__())
    while waiting:
        rule_class = waiting.pop()
        known[rule_class.__name__] = rule_class
        waiting += rule_class.__subclasses__()
    return {**known, **all_rules}


_SCHEDULES = {"Warmup": schedules.Warmup, "OneCycle": schedules.OneCycle}


def _written(value: Any, where: str) -> Any:
    if value is None or isinstance(value, str | bool):
        return value
    if is_number(value):
        return value if isinstance(value, int | float) else value.item()
    if isinstance(value, Rule):
        return config_of(value)
    if isinstance(value, tf.DType):
        return value.name
    if isinstance(value, Mapping):
        return {key: _written(child, f"{where}[{key!r}]") for key, child in value.items()}
    if type(value) in _SCHEDULES.values():
        arguments = {
            field.name: _written(getattr(value, field.name), where) for field in fields(value)
        }
        return {"schedule": type(value).__name__, "arguments": arguments}
    if isinstance(value, keras.optimizers.schedules.LearningRateSchedule):
        return {"keras": keras.saving.serialize_keras_object(value)}
    raise TypeError(
        f"{where} is a {type(value).__name__}, which cannot be written to a file. Give a number or "
        "a Keras schedule, or save the weights alone with model.save_weights."
    )


def _read(value: Any) -> Any:
    if not isinstance(value, Mapping):
        return value
    if "rule" in value and "arguments" in value:
        return rule_from(value)
    if "schedule" in value:
        arguments = {name: _read(child) for name, child in value["arguments"].items()}
        return _SCHEDULES[value["schedule"]](**arguments)
    if "keras" in value:
        return keras.saving.deserialize_keras_object(value["keras"])
    return {key: _read(child) for key, child in value.items()}
