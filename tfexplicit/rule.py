"""The contract of a rule: what to do with a gradient."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import tensorflow as tf

from tfexplicit.constructor_arguments import check_names, explain_setting
from tfexplicit.hyperparameters import Bounds, check, declared, is_number

if TYPE_CHECKING:
    from tfexplicit.fused import Fused

Slots = dict[str, Any]
AnyRule = TypeVar("AnyRule", bound="Rule")


@dataclass(frozen=True)
class LeafStep:
    """One leaf at one step: what a rule may look at, and what the next rule in a chain gets.

    `leaf` and `grad` are tensors; `step` (int64, from 1) is the count that bias correction follows,
    and `taken` the steps that this leaf has made before. `hyper` holds the leaf's hyperparameters
    as float64 scalars, `slots` its arrays as they were before the step. `target` is the variable or
    array that the state was set up on. A float16 or bfloat16 leaf comes as float32.
    """

    leaf: Any
    grad: Any
    step: Any
    taken: Any
    hyper: dict[str, Any]
    slots: Slots
    path: str
    target: Any
    # A bool scalar: False while the rules after this point rest. None: they never do.
    active: Any = None
    # For the rows of a sparse gradient: False where an id comes again. Broadcasts over `grad`.
    distinct: Any = None
    # The leaf after the step, where `leaf - grad` would not round to it.
    becomes: Any = None
    # Of the last rule before this one that has a learning rate, a float64 scalar.
    learning_rate: Any = None

    @property
    def moved(self) -> Any:
        """The leaf after the step, as far as the rules up to here know."""
        return self.leaf - self.grad if self.becomes is None else self.becomes

    @property
    def is_first(self) -> Any:
        """True at the leaf's first step: slots that start as a copy of the leaf start here."""
        return tf.equal(self.taken, 0)

    def once(self, rows: Any) -> Any:
        """The rows of each id once, zeros for the others: what a norm is to be taken of."""
        if self.distinct is None:
            return rows
        return tf.where(self.distinct, rows, tf.zeros_like(rows))

    def with_grad(self, grad: Any) -> LeafStep:
        return replace(self, grad=grad, becomes=None)

    def moving_to(self, value: Any) -> LeafStep:
        """The leaf is to become exactly this."""
        return replace(self, grad=self.leaf - tf.cast(value, self.leaf.dtype), becomes=value)

    def resting_unless(self, condition: Any) -> LeafStep:
        """The rules after this one keep their slots, and the leaf stays, unless `condition`."""
        if self.active is not None:
            condition = tf.logical_and(self.active, condition)
        return replace(self, active=condition)

    def kept(self, slots: Slots) -> Slots:
        """The slots of a rule that rests while `active` is False."""
        if self.active is None:
            return slots
        return {name: tf.where(self.active, new, self.slots[name]) for name, new in slots.items()}


@dataclass(frozen=True, eq=False, repr=False)
class Rule:
    """Base class of rules. A rule is a value: it holds hyperparameters and no arrays.

    Write a rule as a dataclass `@dataclass(frozen=True, eq=False, repr=False)`, with
    hyperparameters annotated `Number`, `NonNegative`, `Positive` or `Fraction`, and the methods
    `init` and `apply`. Within `apply` each hyperparameter is a float64 scalar tensor: cast it to
    the leaf's dtype where it is used. A rule that must see the whole gradient overrides `see`.

    The other methods are for rules that steer other rules, such as `Chain` and `AccumulateGrads`.
    """

    # True if a row of a leaf is stepped from that row of the gradient and the slots alone, so that
    # `setup(..., sparse="lazy")` may step some rows and leave the others.
    rowwise: ClassVar[bool] = False
    # True if every number that a step gives comes from the scalars and from the same place of the
    # arrays, by ops that XLA has: then large leaves go by the formula as XLA compiles it.
    elementwise: ClassVar[bool] = False
    # False for a rule that changes the gradient and leaves it to others to move the leaf.
    moves: ClassVar[bool] = True
    # False for a rule whose formula is about real numbers; complex leaves are refused.
    takes_complex: ClassVar[bool] = True

    # True for a rule whose step depends on the value of the leaf: it matters to it whether the leaf
    # has decayed before.
    looks_at_leaf: ClassVar[bool] = False

    # Hyperparameters with which a gradient of zeros leaves every slot as it is, and is handed on as
    # zeros by a rule that does not move the leaf; None where no such numbers are known.
    keeps_slots_with: ClassVar[Mapping[str, float] | None] = None

    # True for a rule that wraps a chain and cannot be part of one.
    wraps_whole_rule: ClassVar[bool] = False

    def __new__(cls: type[AnyRule], *args: Any, **kwargs: Any) -> AnyRule:
        check_names(cls, kwargs)
        explain_setting(cls)
        return super().__new__(cls)

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        own = cls._own()
        if "fused" not in own and own.keys() & {"apply", "step", "see", "seeing"}:
            # The op that it inherits makes the step of another formula.
            cls.fused = Rule.fused  # type: ignore[method-assign]
        if own.keys() & {"apply", "step"}:
            # So these say nothing of another formula.
            cls.keeps_slots_with = own.get("keeps_slots_with")
            cls.elementwise = own.get("elementwise", False)

    @classmethod
    def _own(cls) -> dict[str, Any]:
        """What the class has from itself, and from bases before the rule that it extends."""
        line = cls.__mro__
        rule = next(place for place, each in enumerate(line) if place and issubclass(each, Rule))
        return {name: value for each in reversed(line[:rule]) for name, value in vars(each).items()}

    def __post_init__(self) -> None:
        for name, bounds in declared(type(self)).items():
            check(type(self).__name__, name, getattr(self, name), bounds)

    def init(self, leaf: Any) -> Slots:
        """The slots of a new leaf (a tensor): name to tensor, none by default.

        Use its shape and dtype only: a model that is first built inside a `tf.function` has no
        values yet.
        """
        return {}

    def apply(self, slots: Slots, leaf: Any, grad: Any, step: Any) -> tuple[Any, Slots]:
        """`(what to subtract from the leaf, new slots)`; every argument is a tensor.

        `step` is an int64 scalar that counts from 1. `grad` and the result have the leaf's shape
        and dtype. The slots must keep their names, shapes and dtypes. A float16 or bfloat16 leaf
        comes as float32, and so do its gradient and slots; `init` gets it that way too.
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
        return type(self).see is not Rule.see or type(self).seeing is not Rule.seeing

    def hyperparameters(self) -> dict[str, Any]:
        """Name to number, or to the variable, schedule or function that is followed."""
        return {name: getattr(self, name) for name in declared(type(self))}

    def arguments(self) -> dict[str, Any]:
        """What to call the class with to get this rule again."""
        return {field.name: getattr(self, field.name) for field in fields(self) if field.init}

    def bounds(self) -> dict[str, Bounds]:
        return dict(declared(type(self)))

    def governing(self, path: str, target: Any) -> set[str]:
        """The hyperparameters that have an effect on this leaf."""
        return set(self.hyperparameters())

    def begin(self, path: str, leaf: Any, target: Any) -> Slots:
        """`init`, for a rule that treats leaves differently."""
        if leaf.dtype.is_complex and not self.takes_complex:
            raise TypeError(
                f"{type(self).__name__} steps real leaves only, but {path} is {leaf.dtype.name}. "
                "Train its real and imaginary parts as two leaves, or use another rule."
            )
        return self.init(leaf)

    def shared(self) -> Slots:
        """Scalars that the rule keeps once for all its leaves, such as a loss scale."""
        return {}

    def seeing(self: AnyRule, leaves: Sequence[LeafStep], shared: Slots) -> tuple[AnyRule, Slots]:
        """`see`, given the whole step: the rule that knows, and the new `shared`."""
        return self.see([leaf.once(leaf.grad) for leaf in leaves]), shared

    def step(self, at: LeafStep) -> tuple[LeafStep, Slots]:
        """`apply` with the leaf's own hyperparameters: what the next rule gets, and new slots."""
        result = self.carrying(**at.hyper).apply(at.slots, at.leaf, at.grad, at.step)
        subtract, slots = _pair(type(self).__name__, result, at)
        return at.with_grad(subtract), at.kept(slots)

    def fused(self, path: str, target: Any) -> Fused | None:
        """How a step of this rule is made faster than leaf by leaf with its formula, if it can be.

        By an op of TensorFlow that makes it in place, or, where small leaves share variables, by
        the formula for all of them at once; equal to the formula up to rounding, and taken where it
        can be. A subclass with a formula of its own does not inherit it.
        """
        return None

    @classmethod
    def variants(cls) -> list[Rule]:
        """One instance for each way in which the rule can work; the tests of all rules run them."""
        return [cls()]

    def apply_gradients(self, grads_and_vars: Iterable[tuple[Any, Any]]) -> Any:
        """Deprecated: the implicit style, with a state that the rule keeps to itself.

        Steps the variables of the `(gradient, variable)` pairs; returns the count of updates.
        """
        from tfexplicit import implicit

        return implicit.apply_gradients(self, grads_and_vars)

    @property
    def iterations(self) -> Any:
        """Deprecated: the implicit style. The count of updates that the rule has made, int64."""
        from tfexplicit import implicit

        return implicit.iterations(self)

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


def _pair(rule: str, result: Any, at: LeafStep) -> tuple[Any, Slots]:
    if not (isinstance(result, tuple) and len(result) == 2 and isinstance(result[1], dict)):
        raise TypeError(
            f"{rule}.apply must return (what to subtract, slots), a tensor and a dict, got "
            f"{type(result).__name__}."
        )
    subtract, slots = result
    if slots.keys() != at.slots.keys():
        raise ValueError(
            f"{rule}.apply must return the slots that init has made, {sorted(at.slots)}, got "
            f"{sorted(slots)}."
        )
    return subtract, slots


def _differs(value: Any, default: Any) -> bool:
    # A variable compares element by element, so only numbers are compared by value.
    return bool(value != default) if is_number(value) else value is not default


def _short(value: Any) -> str:
    if value is None or is_number(value) or isinstance(value, bool | str | Rule):
        return repr(value)
    if hasattr(value, "get_config"):
        return f"<{type(value).__name__}>"
    name = getattr(value, "__name__", None) or type(value).__name__
    return name if name.startswith("<") else f"<{name}>"
