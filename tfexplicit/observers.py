"""Watchers of in-place steps, such as the recorder of `tfexplicit verify`."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any

# Each is called with the leaves, their gradients (None where there is none) and the state, and
# entered around the step: eagerly around an eager step, at trace time inside a `tf.function`.
Observer = Callable[[Sequence[Any], Sequence[Any], Any], AbstractContextManager[None]]

observers: list[Observer] = []


@contextlib.contextmanager
def observed(leaves: Sequence[Any], grads: Sequence[Any], opt_state: Any) -> Iterator[None]:
    with contextlib.ExitStack() as stack:
        for observer in observers:
            stack.enter_context(observer(leaves, grads, opt_state))
        yield
