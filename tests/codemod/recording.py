"""Records programs in the process of the tests, since importing TensorFlow takes seconds."""

from __future__ import annotations

import functools
import runpy
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import keras
import pytest
import tensorflow as tf
import tf_keras
from tfexplicit_codemod.verify import hooks
from tfexplicit_codemod.verify.recorder import Recorder
from tfexplicit_codemod.verify.records import Trajectory, read_record
from tfexplicit_codemod.verify.wrapped_methods import wrap_methods

import tfexplicit as tx
from tfexplicit.observers import observers

FUNCTION = type(tf.function(lambda: None))

HOOKED = [
    (keras.layers.Layer, "add_weight"),
    (tf_keras.layers.Layer, "add_weight"),
    (tf.GradientTape, "gradient"),
    (FUNCTION, "__init__"),
    (FUNCTION, "__call__"),
]


def recorder_in(folder: Path, steps: int | None = None) -> Recorder:
    return Recorder(folder, lambda: ([], []), steps)


def recorded_in(folder: Path) -> Trajectory:
    [record] = folder.glob("*.jsonl")
    return read_record(record, "")


@contextmanager
def hooked(recorder: Recorder) -> Iterator[None]:
    """As in a program, but without its seeds: they would stay in this process."""
    watching = list(observers)
    with pytest.MonkeyPatch.context() as patch:
        for owner, name in HOOKED:
            # Makes it put the original back afterwards.
            patch.setattr(owner, name, getattr(owner, name))
        restored = functools.partial(patch.setattr, raising=False)
        patch.setattr(hooks, "wrap_methods", functools.partial(wrap_methods, replace=restored))
        hooks.record_tensorflow(recorder, tf)
        for package in (keras, tf_keras, tx):
            hooks.hooks_for(recorder)[package.__name__](package)
        try:
            yield
        finally:
            observers[:] = watching


def record(program: str, folder: Path, steps: int | None = None) -> Trajectory:
    """Runs a program, which sets its own seed."""
    folder.mkdir()
    script = folder / "program.py"
    script.write_text(program)
    keras.backend.clear_session(free_memory=False)
    recorder = recorder_in(folder, steps)
    with hooked(recorder):
        kept = runpy.run_path(
            str(script), run_name="__main__"
        )  # alive until the last values are written
        recorder.end()
    assert kept
    return recorded_in(folder)
