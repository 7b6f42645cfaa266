"""`adjust` and `adjusted`: other hyperparameters for a state or a part of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import tensorflow as tf

from tfexplicit import paths
from tfexplicit.arguments import expect_state
from tfexplicit.arrays import is_variable, read
from tfexplicit.composite import means
from tfexplicit.group import Group
from tfexplicit.hyperparameters import as_float64, check, is_number
from tfexplicit.rule import Rule
from tfexplicit.rule_swap import swap_in_place, swapped
from tfexplicit.state import AnyState, OptState, located
from tfexplicit.subtree import Subtree
from tfexplicit.unbuilt import join_what_came, note_on_missing_leaves
from tfexplicit.unconverted import unconverted
from tfexplicit.writing import Writer, is_known

LINE = "tx.adjust(opt_state, learning_rate=1e-4)"


@unconverted
def adjust(opt_state: AnyState, rule: Rule | None = None, **hyper: Any) -> None:
    """Set hyperparameters of the whole state, or of a part: `adjust(opt_state["encoder"], ...)`.

    Takes effect at the next update, also in functions traced earlier, and for leaves that join the
    part later. A number replaces a schedule.
    In a chain a name reaches every part that has it; `**{"adam/epsilon": 1e-8}` reaches one. Where
    the whole of a Keras optimizer is concerned, its own learning-rate variable is set.

    `adjust(opt_state, new_rule)` goes on with another rule that keeps the same slots, such as AdamW
    after Adam, or the same one with other numbers; what was adjusted before is forgotten.

    Raises:
        TypeError: not a state, nothing to set, or a value that is no number or scalar tensor.
        ValueError: no rule of this part has the hyperparameter, or the value is out of range; the
            new rule keeps other slots, or computes something else than what is traced already.
    """
    _adjusted("adjust", opt_state, rule, hyper, Writer(in_place=True))


@unconverted
def adjusted(opt_state: AnyState, rule: Rule | None = None, **hyper: Any) -> AnyState:
    """A state with other hyperparameters; `opt_state` stays as it is. Its arrays are tensors.

    So it is one for `updated`, as inside a loop of values. Arguments and errors as of `adjust`.
    """
    state = _adjusted("adjusted", opt_state, rule, hyper, Writer(in_place=False))
    return Subtree(state, opt_state.path) if isinstance(opt_state, Subtree) else state


def _adjusted(
    verb: str, opt_state: Any, rule: Any, hyper: Mapping[str, Any], writer: Writer
) -> OptState:
    expect_state(verb, opt_state, LINE)
    if not hyper and rule is None:
        raise TypeError(f"{verb}: nothing to set. Write {LINE}.")
    hyper = {name: _plain(value) for name, value in hyper.items()}
    state, prefix = located(opt_state)
    join_what_came(state)
    if writer.in_place and not state.is_live:
        raise TypeError("adjust: this state holds tensors. Write opt_state = tx.adjusted(...).")
    if rule is not None:
        return _with_rule(verb, state, prefix, rule, hyper, writer)
    _check_names(verb, state, prefix, hyper)
    groups = [_in_group(state, group, prefix, hyper, writer) for group in state.groups]
    if writer.in_place:
        return state
    # The step as a tensor too: by it a state knows that it is not live.
    return state.with_groups(read(state.step), groups).as_tensors()


def _plain(value: Any) -> Any:
    """An array without axes, as `np.where` gives one, as the number that it holds."""
    return value.item() if isinstance(value, np.ndarray) and value.ndim == 0 else value


def _with_rule(
    verb: str, state: OptState, prefix: str, rule: Any, hyper: Mapping[str, Any], writer: Writer
) -> OptState:
    if not isinstance(rule, Rule):
        raise TypeError(
            f"{verb}: expected a rule such as tx.Adam(1e-4), or a hyperparameter by name, got "
            f"{rule!r}. Write {LINE}."
        )
    if hyper:
        raise TypeError(f"{verb}: give the numbers to the rule: tx.{verb}(opt_state, rule).")
    if writer.in_place:
        swap_in_place(state, prefix, rule)
        return state
    return swapped(state, prefix, rule).as_tensors()


def _check_names(verb: str, state: OptState, prefix: str, hyper: Mapping[str, Any]) -> None:
    concerned = [group for group in state.groups if any(_mask(group, prefix))]
    for name, value in hyper.items():
        known = [full for group in concerned for full in _names(state, group, prefix)]
        if not any(means(full, name) for full in known):
            short = dict.fromkeys(full.rsplit("/", 1)[-1] for full in known)
            raise ValueError(
                f"{verb}: no rule here has a hyperparameter {name!r}. "
                f"{note_on_missing_leaves(state) or paths.suggestion(name, short)}"
            )
        if not (is_number(value) or tf.is_tensor(value) or is_variable(value)):
            raise TypeError(
                f"{verb}: {name} must be a number or a scalar tensor, got {type(value).__name__}. "
                f"For a schedule or a function give the whole rule, tx.{verb}(opt_state, rule), "
                "before the step is traced."
            )
        for group in concerned:
            for full, bounds in group.rule.bounds().items():
                if means(full, name):
                    check(repr(group.rule), name, value, bounds)


def _names(state: OptState, group: Group, prefix: str) -> list[str]:
    """The hyperparameters that have an effect in this part."""
    owner = state.plan.taken_over
    has_rate = owner is not None and owner.counts_itself and owner.learning_rate is not None
    effective = set[str]().union(
        *(
            group.rule.governing(path, target)
            for path, target in zip(group.paths, group.targets, strict=True)
            if paths.is_under(path, prefix)
        )
    )
    return [*(name for name in group.hyper if name in effective), *["learning_rate"] * has_rate]


def _mask(group: Group, prefix: str) -> list[bool]:
    return [paths.is_under(path, prefix) for path in group.paths]


def _in_group(
    state: OptState, group: Group, prefix: str, hyper: Mapping[str, Any], writer: Writer
) -> Group:
    mask = _mask(group, prefix)
    vectors = dict(group.hyper)
    for name, value in hyper.items():
        value = as_float64(value)
        if _went_to_the_optimizer(state, group, prefix, name, value, writer):
            value = as_float64(float("nan"))
        if writer.in_place and is_known(value):
            state.plan.set_before.remember(prefix, name, float(value))
        for full in vectors:
            if means(full, name) and any(mask):
                new = tf.where(tf.constant(mask), value, read(vectors[full]))
                vectors[full] = writer.put(vectors[full], new)
    return replace(group, hyper=vectors)


def _went_to_the_optimizer(
    state: OptState, group: Group, prefix: str, name: str, value: Any, writer: Writer
) -> bool:
    """A Keras optimizer's own variable stays the truth as long as all its leaves agree."""
    owner = state.plan.taken_over
    if owner is None or owner.rule is not group.rule or not writer.in_place:
        return False
    if not means("learning_rate", name):
        if owner.counts_itself:
            raise ValueError(
                f"adjust: the Keras {type(owner.optimizer).__name__} is stepped by its own update, "
                f"and {name} is fixed there. Use a rule such as tx.Adam()."
            )
        return False
    whole = all(all(_mask(other, prefix)) for other in state.groups)
    if whole and owner.learning_rate is not None and owner.learning_rate.assign(value):
        return True
    if owner.counts_itself:
        raise ValueError(
            f"adjust: {group.rule!r} is stepped by its own update, with one learning rate for all "
            "its leaves"
            + (", which is a schedule." if whole else ". Write tx.adjust(opt_state, ...).")
        )
    return False
