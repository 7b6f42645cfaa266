"""Our own code needs no AutoGraph; the functions a user hands in do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import tensorflow as tf

Function = TypeVar("Function", bound=Callable[..., Any])


def unconverted(function: Function) -> Function:
    """Keep AutoGraph out of a function of this package: tracing is faster, errors are ours."""
    return cast(Function, tf.autograph.experimental.do_not_convert(function))


def converted_as_here(function: Function) -> Function:
    """A user's function, converted if the code that calls us is being converted."""
    autograph = tf.__internal__.autograph
    return cast(Function, autograph.tf_convert(function, autograph.control_status_ctx()))
