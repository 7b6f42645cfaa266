"""Keras habits with rules: arguments that a rule does not have, and setting its attributes."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Mapping
from typing import Any

from tfexplicit.paths import suggestion

# What Keras' base class does with the argument, as a chain: {rule} and {value} are filled in.
_AS_A_MODIFIER = {
    "clipnorm": "tx.Chain(tx.ClipByNorm({value}), {rule})",
    "clipvalue": "tx.Chain(tx.ClipByValue({value}), {rule})",
    "global_clipnorm": "tx.Chain(tx.ClipByGlobalNorm({value}), {rule})",
    "weight_decay": "tx.Chain({rule}, tx.DecoupledWeightDecay({value}))",
    "use_ema": "tx.Chain({rule}, tx.EMA())",
    "ema_momentum": "tx.Chain({rule}, tx.EMA(momentum={value}))",
    "ema_overwrite_frequency": "tx.Chain({rule}, tx.EMA(overwrite_frequency={value}))",
    "gradient_accumulation_steps": "tx.Chain(tx.AccumulateGrads({value}), {rule})",
    "loss_scale_factor": "tx.Chain(tx.LossScale({value}, dynamic=False), {rule})",
}
# Older names of arguments, in Keras and elsewhere.
_OTHER_NAMES = {"lr": "learning_rate", "eps": "epsilon", "b1": "beta_1", "b2": "beta_2"}


def check_names(rule_class: type, given: Mapping[str, Any]) -> None:
    """Raise a `TypeError` that says what to write for an argument that the class does not have."""
    parameters = inspect.signature(rule_class.__init__).parameters  # type: ignore[misc]
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()):
        return
    for name, value in given.items():
        if name not in parameters:
            raise TypeError(_advice(rule_class.__name__, name, value, [*parameters][1:]))


def _advice(rule: str, name: str, value: Any, parameters: list[str]) -> str:
    head = f"{rule} has no argument `{name}`."
    other = _OTHER_NAMES.get(name)
    if other in parameters:
        return f"{head} Use {other}={value!r}."
    if name in _AS_A_MODIFIER:
        line = _AS_A_MODIFIER[name].format(rule=f"tx.{rule}(...)", value=repr(value))
        return f"{head} Write {line}."
    if name == "name":
        return f"{head} A rule gets a name in a chain: tx.Chain(main=tx.{rule}(...))."
    if name in ("sparse", "steps", "tied"):
        return f"{head} It is one of tx.setup: tx.setup(tx.{rule}(...), model, {name}={value!r})."
    if name == "jit_compile":
        return f"{head} Give it to the function that updates: tf.function(..., jit_compile=True)."
    return f"{head} {suggestion(name, parameters)}"


def explain_setting(rule_class: type) -> None:
    """Let `rule.learning_rate = x` say what to write; a frozen dataclass only says no."""
    if dataclasses.is_dataclass(rule_class) and "__setattr__" in vars(rule_class):
        rule_class.__setattr__ = _set  # type: ignore[method-assign]


def _set(rule: Any, name: str, value: Any) -> None:
    from tfexplicit import implicit

    implicit.set_hyperparameter(rule, name, value)


def refuse_to_set(rule: Any, name: str, value: Any) -> None:
    """In place of `rule.name = value`."""
    raise dataclasses.FrozenInstanceError(
        f"{type(rule).__name__}: a rule is a value and cannot be changed. Write "
        f"tx.adjust(opt_state, {name}={value!r}) to change a state that was made of it."
    )
