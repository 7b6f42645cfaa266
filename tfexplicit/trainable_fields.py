"""`trainable_fields`: how a class says which of its fields are trained."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, overload

from tfexplicit.fields import MARK

Class = TypeVar("Class", bound=type)


@overload
def trainable_fields(cls: Class, /, *names: str) -> Class: ...


@overload
def trainable_fields(*names: str) -> Callable[[Class], Class]: ...


def trainable_fields(*args: Any) -> Any:
    """Say which fields of a class are trained; the others stay as they are.

    As a decorator, `@tx.trainable_fields("kernel", "bias")`, or for a class that exists,
    `tx.trainable_fields(Block, "kernel", "bias")`. Leaves keep the order of the fields. Subclasses
    inherit it. A dataclass, attrs class, namedtuple or registered type trains all its fields
    without it; a plain class has the fields that are named here. `@tx.trainable_fields()`: none.

    Raises:
        TypeError: a name that is no string, or a class that lists its own `trainable_variables`.
    """
    if args and isinstance(args[0], type):
        if len(args) == 1:
            raise TypeError(
                f"trainable_fields: which fields of {args[0].__name__}? Write "
                '@tx.trainable_fields("kernel", "bias"), or @tx.trainable_fields() for none.'
            )
        return _marked(args[0], args[1:])
    return lambda cls: _marked(cls, args)


def _marked(cls: Any, names: tuple[Any, ...]) -> Any:
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"trainable_fields: expected names of fields, got {name!r}.")
    if hasattr(cls, "trainable_variables"):
        raise TypeError(
            f"trainable_fields: {cls.__name__} lists its own trainable_variables. Make the "
            "variables that are not trained with trainable=False, or freeze them in the state."
        )
    setattr(cls, MARK, names)
    return cls
