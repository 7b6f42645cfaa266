"""Another rule for the leaves of a state, which keeps their slots."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

import tensorflow as tf

from tfexplicit import paths
from tfexplicit.arrays import raw, read
from tfexplicit.composite import Composite
from tfexplicit.creation import in_variables, value_at_start
from tfexplicit.group import Group, initial_vector, is_followed
from tfexplicit.hyperparameters import declared
from tfexplicit.plan import Plan
from tfexplicit.rule import Rule, Slots
from tfexplicit.set_before import SetBefore
from tfexplicit.state import OptState


def swap_in_place(state: OptState, prefix: str, rule: Rule) -> None:
    """Where only numbers differ they are set; else later calls compute the new formula."""
    numbers = _concerned(state, prefix, "adjust")
    if all(differs_in_numbers_only(state.groups[number].rule, rule) for number in numbers):
        for number in numbers:
            group = state.groups[number]
            for name, source in rule.hyperparameters().items():
                raw(group.hyper[name]).assign(initial_vector(source, len(group.paths)))
        for name, source in rule.hyperparameters().items():
            state.plan.set_before.remember(prefix, name, float(source))
        return
    if state.plan.traced:
        raise ValueError(
            f"adjust: a function traced before goes on computing "
            f"{state.groups[numbers[0]].rule!r}, so {rule!r} would not reach it. Write "
            "new_state = tx.setup(rule, model), tx.load_state_dict(new_state, "
            "tx.state_dict(opt_state), strict=False), which loads the old hyperparameters too, "
            "tx.adjust(new_state, rule), and trace a step with new_state."
        )
    groups = list(state.groups)
    for number in numbers:
        group = groups[number]
        groups[number] = _under(group, rule, lambda value, name: in_variables(value, name, []))
    state.become(_plan_with(state, prefix, rule), groups)


def swapped(state: OptState, prefix: str, rule: Rule) -> OptState:
    """The same for a state of tensors, or for a copy of one: nothing is changed."""
    numbers = _concerned(state, prefix, "adjusted")
    groups = [
        _under(group, rule, lambda value, name: value) if number in numbers else group
        for number, group in enumerate(state.groups)
    ]
    return type(state)(_plan_with(state, prefix, rule), read(state.step), groups)


def _plan_with(state: OptState, prefix: str, rule: Rule) -> Plan:
    plan = replace(state.plan, taken_over=None, compiled={})
    return plan if prefix else replace(plan, choose=lambda leaf: rule, set_before=SetBefore())


def _concerned(state: OptState, prefix: str, verb: str) -> list[int]:
    if state.own_stepper is not None:
        raise TypeError(
            f"{verb}: the Keras {type(state.own_stepper).__name__} is stepped by its own update. "
            "Make a new state with tx.setup(rule, model)."
        )
    concerned = []
    for number, group in enumerate(state.groups):
        under = [paths.is_under(path, prefix) for path in group.paths]
        if any(under) and not all(under):
            outside = next(
                path for path, is_in in zip(group.paths, under, strict=True) if not is_in
            )
            raise ValueError(
                f"{verb}: {prefix!r} shares the rule {group.rule!r} with {outside!r}, and leaves "
                "under one rule change it together. Give the parts rules of their own: "
                f'tx.setup({{"{prefix}": rule, "**": rule}}, model).'
            )
        if any(under):
            concerned.append(number)
    return concerned


def _under(group: Group, rule: Rule, keep: Any) -> Group:
    for path, target, slots in zip(group.paths, group.targets, group.slots, strict=True):
        wanted = rule.begin(path, value_at_start(target), target)
        if _forms(wanted) != _forms(slots):
            raise ValueError(
                f"{rule!r} keeps other slots at {path!r} than {group.rule!r}: "
                f"{_listed(wanted)}, not {_listed(slots)}. Make a new state with tx.setup."
            )
    if rule.shared().keys() != group.shared.keys():
        raise ValueError(f"{rule!r} keeps other scalars than {group.rule!r}. Use tx.setup.")
    hyper = {
        name: keep(initial_vector(source, len(group.paths)), name)
        for name, source in rule.hyperparameters().items()
    }
    return replace(group, rule=rule, hyper=hyper)


def _forms(slots: Slots) -> dict[str, Any]:
    return {name: (tuple(raw(slot).shape), tf.as_dtype(slot.dtype)) for name, slot in slots.items()}


def _listed(slots: Mapping[str, Any]) -> str:
    return ", ".join(slots) or "none"


def differs_in_numbers_only(old: Rule, new: Rule) -> bool:
    """Then a function traced with the old rule computes the new one, given other numbers."""
    if type(old) is not type(new):
        return False
    if isinstance(old, Composite) and isinstance(new, Composite):
        return (
            old.parts.keys() == new.parts.keys()
            and old.structure == new.structure
            and all(
                differs_in_numbers_only(part, new.parts[name]) for name, part in old.parts.items()
            )
        )
    sources = new.hyperparameters()
    if sources.keys() != old.hyperparameters().keys() or any(map(is_followed, sources.values())):
        return False
    return all(
        getattr(old, field.name) == getattr(new, field.name)
        for field in fields(new)
        if field.name not in declared(type(new))
    )
