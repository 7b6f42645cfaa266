"""Wrong arguments of the verbs: what came, what was expected, and the line to write."""

from __future__ import annotations

from typing import Any

from tfexplicit.keras_optimizers.recognise import is_keras_optimizer
from tfexplicit.rule import Rule
from tfexplicit.state import OptState
from tfexplicit.subtree import Subtree
from tfexplicit.tree import parse

SETUP = "opt_state = tx.setup(optimizer, model)"


def is_state(value: object) -> bool:
    return isinstance(value, OptState | Subtree)


def is_rule_like(value: object) -> bool:
    return (
        isinstance(value, Rule)
        or is_keras_optimizer(value)
        or (isinstance(value, type) and issubclass(value, Rule))
    )


def expect_state_and_model(
    verb: str, opt_state: Any, model: Any, line: str, grads: Any = None
) -> None:
    if is_state(model) or is_state(grads):
        raise TypeError(f"{verb}: the arguments are swapped. Write {line}.")
    expect_state(verb, opt_state, line)
    if is_rule_like(model):
        raise TypeError(f"{verb}: expected the model, got {model!r}. Write {line}.")


def expect_state(verb: str, opt_state: Any, line: str) -> None:
    if is_state(opt_state):
        return
    if is_state(getattr(opt_state, "opt_state", None)):
        raise TypeError(
            f"{verb}: expected the state, got {_named(opt_state)}. Its state is its `opt_state`: "
            f"write optimizer.opt_state for it in {line}."
        )
    if is_rule_like(opt_state):
        raise TypeError(
            f"{verb}: expected the state, got {_named(opt_state)}. Write {SETUP} once, then {line}."
        )
    if isinstance(opt_state, tuple) and opt_state and is_state(opt_state[0]):
        raise TypeError(
            f"{verb}: expected the state, got the pair that tx.update returned. Write "
            "tx.update(...) as a statement, or opt_state, model = tx.update(...) if leaves are "
            "tensors."
        )
    kind = "the model" if parse(opt_state).leaves else _named(opt_state)
    raise TypeError(
        f"{verb}: expected the state that tx.setup returned, got {kind}. Write {SETUP} once, then "
        f"{line}."
    )


def expect_model(verb: str, rule: Any, model: Any, line: str) -> None:
    """For `setup`: the rule first, then the model."""
    if is_state(rule) or is_state(model):
        raise TypeError(f"{verb}: got a state; setup makes one. Write {line}.")
    if isinstance(rule, type):
        raise TypeError(f"{verb}: got the class {rule.__name__}; write {rule.__name__}().")
    if is_rule_like(model):
        raise TypeError(f"{verb}: the arguments are swapped. Write {line}.")
    if hasattr(rule, "trainable_variables") and not is_rule_like(rule):
        kind = type(rule).__name__
        raise TypeError(f"{verb}: expected the rule, got the model {kind}. Write {line}.")


def refuse_as_model(verb: str, model: Any) -> None:
    """A state and a rule have no leaves, so they would pass for a model without any."""
    if is_state(model) or isinstance(model, Rule):
        kind = "the state" if is_state(model) else repr(model)
        raise TypeError(f"{verb}: expected the model, got {kind}. Write tx.{verb}(model).")


def _named(value: Any) -> str:
    return repr(value) if isinstance(value, Rule) else type(value).__name__
