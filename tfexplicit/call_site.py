"""The line of the user's program that called us, through `tf.function`, AutoGraph and Keras."""

from __future__ import annotations

import contextlib
import functools
import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType, ModuleType

import tensorflow as tf


@dataclass(frozen=True)
class CallSite:
    file: str
    line: int

    @property
    def module(self) -> str:
        """`__main__` for the script that runs: Python shows deprecation warnings there only."""
        main = getattr(sys.modules.get("__main__"), "__file__", None)
        path = Path(self.file)
        # A cell of a notebook is no file.
        if not path.exists() or (main and Path(main).resolve() == path.resolve()):
            return "__main__"
        return path.stem


def quick_site() -> CallSite:
    """The innermost frame outside the libraries, as Python sees it: cheap, good as a key.

    In a `tf.function` it lies in the file that AutoGraph generated.
    """
    return _first_outside(_python_frames())


def true_site() -> CallSite:
    """The same, with lines of generated code mapped back to the user's file."""
    try:
        from tensorflow.python.util import tf_stack
    except ImportError:
        return quick_site()
    stack = reversed(list(tf_stack.extract_stack()))
    return _first_outside(CallSite(frame.filename, frame.lineno) for frame in stack)


def _python_frames() -> Iterator[CallSite]:
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        # What AutoGraph generates runs with the globals of its source: so ours is told from the
        # user's, where the file's name would not do.
        if not str(frame.f_globals.get("__file__", "")).startswith(_libraries()):
            yield CallSite(frame.f_code.co_filename, frame.f_lineno)
        frame = frame.f_back


def _first_outside(sites: Iterable[CallSite]) -> CallSite:
    last = CallSite("<unknown>", 1)
    for last in sites:
        if not last.file.startswith(_libraries()):
            return last
    return last


@functools.cache
def _libraries() -> tuple[str, ...]:
    site_packages = Path(tf.__file__).parent.parent
    packages = [Path(__file__).parent, Path(tf.__file__).parent]
    packages += [site_packages / name for name in ("keras", "tf_keras", "tensorflow")]
    modules: tuple[ModuleType, ...] = (contextlib, functools)
    return (
        *(f"{package}{os.sep}" for package in packages),
        *(str(module.__file__) for module in modules),
    )
