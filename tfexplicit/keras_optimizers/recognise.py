"""Is this a Keras optimizer, and of which generation? Without importing any Keras."""

from __future__ import annotations

from typing import Any

_BASES = frozenset(("BaseOptimizer", "_BaseOptimizer", "OptimizerV2"))


def is_keras_optimizer(value: object) -> bool:
    """True for optimizers of Keras 3 and `tf_keras` (also legacy), and subclasses of a user."""
    return any(is_optimizer_base(base) for base in type(value).__mro__)


def is_optimizer_base(cls: type) -> bool:
    """True for the classes from which all optimizers of a Keras come."""
    return bool(_package(cls)) and cls.__name__ in _BASES


def is_keras_3(optimizer: Any) -> bool:
    return any(_package(base) == "keras" for base in type(optimizer).__mro__)


def is_legacy(optimizer: Any) -> bool:
    return any(base.__name__ == "OptimizerV2" for base in type(optimizer).__mro__)


def is_keras_own_class(optimizer: Any) -> bool:
    """False for a class of the user, which may do anything in its update."""
    return bool(_package(type(optimizer)))


def _package(cls: type) -> str:
    package = (cls.__module__ or "").split(".")[0]
    return package if package in ("keras", "tf_keras") else ""
