"""The implicit style on a rule: `apply_gradients` and `minimize`, through the same update."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import tensorflow as tf

from tfexplicit.arrays import is_leaf, raw
from tfexplicit.deprecation import warn_implicit_call
from tfexplicit.module_names import numbered_where_repeated, own_name
from tfexplicit.plan import Plan
from tfexplicit.rule import Rule
from tfexplicit.state import OptState, new_state
from tfexplicit.unconverted import unconverted
from tfexplicit.verbs.update import update

_STATE = "_implicit_state"


@unconverted
def apply_gradients(rule: Rule, grads_and_vars: Iterable[tuple[Any, Any]]) -> Any:
    warn_implicit_call(
        "TX101",
        "`apply_gradients` keeps hidden state for the variables that it is given.",
        "`opt_state = tx.setup(optimizer, model)` once, and "
        "`tx.update(opt_state, model, grads)` here",
    )
    return _apply(rule, list(grads_and_vars))


def minimize(rule: Rule, loss: Any, var_list: Any, tape: Any) -> Any:
    _warn_of_minimize()
    if not callable(loss) and tape is None:
        raise ValueError("minimize: a loss that is a tensor needs the tape that computed it.")
    tape = tf.GradientTape() if tape is None else tape
    if callable(loss):
        with tape:
            if not callable(var_list):
                tape.watch([raw(variable) for variable in var_list])
            loss = loss()
    variables = list(var_list() if callable(var_list) else var_list)
    grads = tape.gradient(loss, [raw(variable) for variable in variables])
    return _apply(rule, list(zip(grads, variables, strict=True)))


@unconverted
def _warn_of_minimize() -> None:
    warn_implicit_call(
        "TX208",
        "`minimize` keeps hidden state for the variables that it is given.",
        "`opt_state = tx.setup(optimizer, model)` once, and "
        "`loss = tx.minimize(loss_fn, opt_state, model)` here",
    )


@unconverted
def _apply(rule: Rule, pairs: Sequence[tuple[Any, Any]]) -> Any:
    if not pairs:
        return _state_of(rule).step
    grads, variables = (list(column) for column in zip(*pairs, strict=True))
    _refuse_what_keras_would_step(variables)
    state = _state_of(rule)
    _remember(state.plan.model, variables)
    update(state, variables, grads)
    return state.step


def _refuse_what_keras_would_step(variables: Sequence[Any]) -> None:
    """Keras steps a variable that is not trainable, and one that comes twice it steps twice."""
    seen: set[int] = set()
    for variable in variables:
        if not is_leaf(variable):
            raise ValueError(
                f"apply_gradients: {own_name(variable, whole=True)!r} is not trainable. Make it "
                "with tf.Variable(value) to train it, or leave it out."
            )
        if id(raw(variable)) in seen:
            raise ValueError(
                f"apply_gradients: {own_name(variable, whole=True)!r} comes twice. Add up its "
                "gradients, or call once for each."
            )
        seen.add(id(raw(variable)))


def _state_of(rule: Rule) -> OptState:
    """The one state that the rule keeps for all variables it has been given."""
    state: OptState | None = getattr(rule, _STATE, None)
    if state is None:
        state = new_state(Plan({}, lambda leaf: rule, shares_count=True))
        object.__setattr__(rule, _STATE, state)
    return state


def _remember(known: dict[str, Any], variables: Sequence[Any]) -> None:
    """New variables join under their own names."""
    present = {id(raw(variable)) for variable in known.values()}
    new = [variable for variable in variables if id(raw(variable)) not in present]
    names = numbered_where_repeated([*known, *(own_name(variable, whole=True) for variable in new)])
    known.update(zip(names[len(known) :], new, strict=True))
