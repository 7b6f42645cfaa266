"""Keras optimizers that warn: their updating methods, and those of subclasses, are wrapped.

Only while it is asked for; afterwards every class is as it was.
"""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Callable
from types import ModuleType, TracebackType
from typing import Any

from tfexplicit_codemod.verify.imports import AfterImport
from tfexplicit_codemod.verify.wrapped_methods import wrap_methods

from tfexplicit.keras_optimizers.recognise import is_optimizer_base
from tfexplicit.unconverted import unconverted
from tfexplicit.warn.call_site import is_called_by_a_library
from tfexplicit.warn.funnel import warn_of_old_path
from tfexplicit.warn.mixing import warn_if_mixed

_METHODS = ("apply_gradients", "apply", "minimize")

_restoring: list[tuple[type, str, Any]] = []
_waiting: list[AfterImport] = []
_depth = threading.local()


def install() -> None:
    """On the Kerases that are imported, and on one that will be, right after that."""
    if _waiting:
        return
    _waiting.append(AfterImport({"keras": _patch, "tf_keras": _patch}))
    _waiting[0].install()
    for name in ("keras", "tf_keras"):
        if name in sys.modules:
            _patch(sys.modules[name])


def remove() -> None:
    while _waiting:
        sys.meta_path.remove(_waiting.pop())
    while _restoring:
        owner, name, original = _restoring.pop()
        if original is None:
            delattr(owner, name)
        else:
            setattr(owner, name, original)


def _patch(keras: ModuleType) -> None:
    legacy = getattr(keras.optimizers, "legacy", None)
    optimizers = [keras.optimizers.Optimizer, getattr(legacy, "Optimizer", None)]
    bases = {base for cls in optimizers if cls for base in cls.__mro__ if is_optimizer_base(base)}
    wrap_methods(bases, _METHODS, _warning, _replace)


def _replace(cls: type, name: str, new: Any) -> None:
    _restoring.append((cls, name, vars(cls).get(name)))
    setattr(cls, name, new)


def _warning(method: Callable[..., Any], call: str) -> Callable[..., Any]:
    # AutoGraph may convert this, so that it also converts an update of the user's own.
    @functools.wraps(method)
    def warning(self: Any, *args: Any, **kwargs: Any) -> Any:
        with _update_of(self, call):
            return method(self, *args, **kwargs)

    return warning


@unconverted
def _update_of(optimizer: Any, call: str) -> _Inside:
    """Of an update that calls another, such as that of its base class, the outer one is meant."""
    outermost = not getattr(_depth, "inside", 0) and not is_called_by_a_library()
    if outermost and warn_of_old_path(call, optimizer):
        # None yet, if this is its first update.
        warn_if_mixed(call, getattr(optimizer, "_trainable_variables", ()))
    return _Inside()


class _Inside:
    def __enter__(self) -> None:
        _depth.inside = getattr(_depth, "inside", 0) + 1

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        _depth.inside -= 1
