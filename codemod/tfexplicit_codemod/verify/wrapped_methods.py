"""Wraps methods of classes and of all their subclasses, those to come too."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

Method = Callable[..., Any]

_SUBCLASSING = "__init_subclass__"


def wrap_methods(
    bases: Iterable[Any],
    names: Sequence[str],
    wrap: Callable[[Method, str], Method],
    replace: Callable[[Any, str, Any], None] = setattr,
) -> None:
    """Each definition of these methods, once; `wrap` is given the method and its name."""
    wrappers: set[Method] = set()

    def wrap_those_of(cls: Any) -> None:
        for name in names:
            method = vars(cls).get(name)
            if method is not None and method not in wrappers:
                wrapper = wrap(method, name)
                wrappers.add(wrapper)
                replace(cls, name, wrapper)

    for base in bases:
        for cls in (base, *_subclasses(base)):
            wrap_those_of(cls)
        replace(base, _SUBCLASSING, classmethod(_init_subclass_of(base, wrap_those_of)))


def _subclasses(cls: Any) -> Iterator[Any]:
    for subclass in cls.__subclasses__():
        yield subclass
        yield from _subclasses(subclass)


def _init_subclass_of(base: Any, wrap_those_of: Callable[[Any], None]) -> Callable[..., None]:
    """What it was, and then the wrapping."""
    own = vars(base).get(_SUBCLASSING)

    def init_subclass(cls: Any, /, **kwargs: Any) -> None:
        inherited = super(base, cls).__init_subclass__ if own is None else own.__get__(None, cls)
        inherited(**kwargs)
        wrap_those_of(cls)

    return init_subclass
