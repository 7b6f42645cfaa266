"""The contract of a rule: what to do with a gradient."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any, TypeVar

from tfexplicit.hyperparameters import Bounds, check, declared, is_number

Slots = dict[str, Any]
AnyRule = TypeVar("AnyRule", bound="Rule")


@dataclass(frozen=True)
class LeafStep:
    """One leaf at one step, all tensors: what a rule may look at.

    `step` is the count of this update for this leaf, from 1. `hyper` holds the leaf's own
    hyperparameters as float64 scalars, `slots` its arrays as they were before the step.
    """

    leaf: Any
    grad: Any
    step: Any
    hyper: dict[str, Any]
    slots: Slots


@dataclass(frozen=True, eq=False, repr=False)
class Rule:
    """Base class of rules. A rule is a value: it holds hyperparameters and no arrays.

    Write a rule as a dataclass `@dataclass(frozen=True, eq=False, repr=False)`, with
    hyperparameters annotated `Number`, `NonNegative`, `Positive` or `Fraction`, and the methods
    `init` and `apply`. Within `apply` each hyperparameter is a float64 scalar tensor: cast it to
    the leaf's dtype where it is used. A rule that must see the whole gradient overrides `see`.
    """

    def __post_init__(self) -> None:
        for name, bounds in declared(type(self)).items():
            check(type(self).__name__, name, getattr(self, name), bounds)

    def init(self, leaf: Any) -> Slots:
        """The slots of a new leaf (a tensor): name to tensor, none by default."""
        return {}

    def apply(self, slots: Slots, leaf: Any, grad: Any, step: Any) -> tuple[Any, Slots]:
        """`(what to subtract from the leaf, new slots)`; every argument is a tensor.

        `step` is an int64 scalar that counts from 1. `grad` and the result have the leaf's shape
        and dtype. The slots must keep their names, shapes and dtypes.
        """
        raise NotImplementedError(f"{type(self).__name__} has no `apply`")

    def see(self: AnyRule, grads: Sequence[Any]) -> AnyRule:
        """Look at all gradients of the step before any is applied.

        Return `self.carrying(name=value)`: a copy that knows what was seen. Hyperparameters are
        per leaf, so they are not to be read here.
        """
        return self

    def carrying(self: AnyRule, **values: Any) -> AnyRule:
        """A copy in which these attributes have these values."""
        twin = copy.copy(self)
        for name, value in values.items():
            object.__setattr__(twin, name, value)
        return twin

    @property
    def sees(self) -> bool:
        """True for a rule that has to look at the whole gradient first."""
        return type(self).see is not Rule.see

    def hyperparameters(self) -> dict[str, Any]:
        """Name to number, or to the variable, schedule or function that is followed."""
        return {name: getattr(self, name) for name in declared(type(self))}

    def bounds(self) -> dict[str, Bounds]:
        return dict(declared(type(self)))

    def seeing(self: AnyRule, leaves: Sequence[LeafStep]) -> AnyRule:
        """`see`, given the whole step. `Chain` needs more than the gradients."""
        return self.see([leaf.grad for leaf in leaves])

    def step(self, at: LeafStep) -> tuple[Any, Slots]:
        """`apply` with the leaf's own hyperparameters."""
        return self.carrying(**at.hyper).apply(at.slots, at.leaf, at.grad, at.step)

    def apply_gradients(self, grads_and_vars: Iterable[tuple[Any, Any]]) -> Any:
        """Deprecated: the implicit style, with a state that the rule keeps to itself.

        Steps the variables of the `(gradient, variable)` pairs; returns the count of updates.
        """
        from tfexplicit import implicit

        return implicit.apply_gradients(self, grads_and_vars)

    def minimize(self, loss: Any, var_list: Any, tape: Any = None) -> Any:
        """Deprecated: the implicit style. `loss` is a function, or a tensor with its `tape`."""
        from tfexplicit import implicit

        return implicit.minimize(self, loss, var_list, tape)

    def __repr__(self) -> str:
        """Only what differs from the defaults, after the first argument."""
        shown = [field for field in fields(self) if field.init]
        parts = [
            f"{field.name}={_short(getattr(self, field.name))}"
            for position, field in enumerate(shown)
            if position == 0 or _differs(getattr(self, field.name), field.default)
        ]
        return f"{type(self).__name__}({', '.join(parts)})"


def _differs(value: Any, default: Any) -> bool:
    # A variable compares element by element, so only numbers are compared by value.
    return bool(value != default) if is_number(value) else value is not default


def _short(value: Any) -> str:
    if is_number(value) or isinstance(value, bool):
        return repr(value)
    if hasattr(value, "get_config"):
        return f"<{type(value).__name__}>"
    return f"<{getattr(value, '__name__', None) or type(value).__name__}>"
