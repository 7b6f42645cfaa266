"""Our own code needs no AutoGraph; functions that call a user's function are left to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import tensorflow as tf

Function = TypeVar("Function", bound=Callable[..., Any])


def unconverted(function: Function) -> Function:
    """Keep AutoGraph out of a function of this package: tracing is faster, errors are ours."""
    return cast(Function, tf.autograph.experimental.do_not_convert(function))
