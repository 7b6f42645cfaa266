"""The implicit style on a rule: `apply_gradients` and `minimize`, through the same update."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import tensorflow as tf

from tfexplicit.arrays import is_leaf, raw
from tfexplicit.constructor_arguments import refuse_to_set
from tfexplicit.module_names import numbered_where_repeated, own_name
from tfexplicit.plan import Plan
from tfexplicit.rule import Rule
from tfexplicit.state import OptState, new_state
from tfexplicit.unconverted import unconverted
from tfexplicit.verbs.adjust import adjust
from tfexplicit.verbs.trainables import trainables
from tfexplicit.verbs.update import update
from tfexplicit.warn.funnel import warn_of_old_path
from tfexplicit.warn.mixing import explicit_states, warn_if_mixed
from tfexplicit.warn.repeated import note_implicit_state

_STATE = "_implicit_state"


@unconverted
def apply_gradients(rule: Rule, grads_and_vars: Iterable[tuple[Any, Any]]) -> Any:
    is_new = warn_of_old_path("apply_gradients", rule)
    return _apply(rule, list(grads_and_vars), "apply_gradients", is_new)


def minimize(rule: Rule, loss: Any, var_list: Any, tape: Any) -> Any:
    is_new = warn_of_old_path("minimize", rule)
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
    return _apply(rule, list(zip(grads, variables, strict=True)), "minimize", is_new)


@unconverted
def iterations(rule: Rule) -> Any:
    """The count of a rule's updates in the implicit style, as `optimizer.iterations`."""
    warn_of_old_path("iterations", rule, "TX305")
    return _state_of(rule).step


@unconverted
def state_for_training(rule: Rule, model: Any) -> OptState:
    """For `train`, given a rule in place of a state."""
    warn_of_old_path("train", rule, "TX307")
    return state_for(rule, trainables(model))


@unconverted
def set_hyperparameter(rule: Rule, name: str, value: Any) -> None:
    """`rule.name = value` of a rule that keeps its own state: for the updates to come.

    Raises:
        FrozenInstanceError: the rule keeps no state, or an explicit state goes by it: there the
            assignment would have no effect.
    """
    state = state_kept_by(rule)
    if state is None or _is_in_explicit_use(rule):
        refuse_to_set(rule, name, value)
    else:
        warn_of_old_path(name, rule, "TX306")
        adjust(state, **{name: value})
        # What the program reads next, and what leaves that join later start with.
        object.__setattr__(rule, name, value)


def _is_in_explicit_use(rule: Rule) -> bool:
    return any(rule is group.rule for state in explicit_states() for group in state.groups)


@unconverted
def _apply(rule: Rule, pairs: Sequence[tuple[Any, Any]], call: str, is_new: bool) -> Any:
    if not pairs:
        return _state_of(rule).step
    grads, variables = (list(column) for column in zip(*pairs, strict=True))
    _refuse_what_keras_would_step(variables)
    if is_new:
        warn_if_mixed(call, variables)
    is_first = state_kept_by(rule) is None
    state = state_for(rule, variables)
    update(state, variables, grads)
    if is_first:
        note_implicit_state(call, state)
    return state.step


def state_kept_by(rule: Rule) -> OptState | None:
    """The state of the implicit style, if the rule has been used that way."""
    state: OptState | None = getattr(rule, _STATE, None)
    return state


def state_for(rule: Rule, variables: Sequence[Any]) -> OptState:
    """The same, made if need be, which knows these variables from now on."""
    state = _state_of(rule)
    _remember(state.plan.model, variables)
    return state


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
    state = state_kept_by(rule)
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
