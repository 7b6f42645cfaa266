"""The line of the user's program that called us, through `tf.function`, AutoGraph and Keras."""

from __future__ import annotations

import concurrent.futures
import contextlib
import functools
import os
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import FrameType

import tensorflow as tf


@dataclass(frozen=True)
class CallSite:
    file: str
    line: int
    # As `__name__` has it there.
    module: str

    @property
    def filtered_as(self) -> str:
        """What Python's filters take for the module: they show a script and a notebook as such."""
        return self.module if Path(self.file).exists() else "__main__"


def quick_site() -> CallSite:
    """The innermost frame outside the libraries, as Python sees it: cheap, good as a key.

    In a `tf.function` it lies in the file that AutoGraph generated. A thread that runs a method of
    the optimizer itself has no such frame.
    """
    for frame, file in _frames():
        if not file.startswith(_libraries()):
            module = str(frame.f_globals.get("__name__", ""))
            return CallSite(frame.f_code.co_filename, frame.f_lineno, module)
    return CallSite("<unknown>", 1, "")


def true_site(quick: CallSite) -> CallSite:
    """The same, with a line of generated code mapped back to the user's file."""
    try:
        from tensorflow.python.util import tf_stack
    except ImportError:
        return quick
    for frame in reversed(list(tf_stack.extract_stack())):
        if not frame.filename.startswith(_libraries()):
            return replace(quick, file=frame.filename, line=frame.lineno)
    return quick


def is_called_by_a_library() -> bool:
    """True where Keras or this package itself makes the call, as built-in `fit` does."""
    callers = (file for _, file in _frames() if not file.startswith(_in_between()))
    return next(callers, "").startswith(_libraries())


def is_called_in_fit() -> bool:
    """True under a method of a Keras model that trains: `fit`, `train_on_batch`."""
    return any(
        frame.f_code.co_name in ("fit", "train_on_batch") and file.startswith(_kerases())
        for frame, file in _frames()
    )


def _frames() -> Iterator[tuple[FrameType, str]]:
    """From the innermost outwards, each with the file that its code comes from."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        # What AutoGraph generates runs with the globals of its source: so ours is told from the
        # user's, where the file's name would not do.
        yield frame, str(frame.f_globals.get("__file__") or frame.f_code.co_filename)
        frame = frame.f_back


@functools.cache
def _libraries() -> tuple[str, ...]:
    return (*_in_between(), *_kerases(), _folder(Path(__file__).parents[1]))


@functools.cache
def _in_between() -> tuple[str, ...]:
    """What stands between a call and its caller without calling by itself."""
    return (
        _folder(Path(tf.__file__).parent),
        _folder(Path(__file__).parent),
        _folder(Path(concurrent.futures.__file__).parent),
        *(str(module.__file__) for module in (contextlib, functools, threading)),
    )


@functools.cache
def _kerases() -> tuple[str, ...]:
    site_packages = Path(tf.__file__).parents[1]
    return tuple(_folder(site_packages / name) for name in ("keras", "tf_keras"))


def _folder(path: Path) -> str:
    return f"{path}{os.sep}"
