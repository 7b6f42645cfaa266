"""The recorder sees every update once, in order, with the values after it, however it runs."""

from __future__ import annotations

import dataclasses
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
import tf_keras
from tfexplicit_codemod.verify import variables as variables_module
from tfexplicit_codemod.verify.digest import digest_of
from tfexplicit_codemod.verify.limit import Finished
from tfexplicit_codemod.verify.record_file import RecordFile
from tfexplicit_codemod.verify.recorder import Recorder
from tfexplicit_codemod.verify.records import Trajectory

import tfexplicit as tx

OWNER = tx.SGD()  # of the updates made by hand


@pytest.fixture
def recorder(recording: ModuleType, tmp_path: Path) -> Recorder:
    made: Recorder = recording.recorder_in(tmp_path)
    return made


@pytest.fixture
def recorded(recording: ModuleType, tmp_path: Path) -> Callable[[], Trajectory]:
    return lambda: recording.recorded_in(tmp_path)


@pytest.fixture
def hooked(recording: ModuleType, recorder: Recorder) -> Iterator[None]:
    with recording.hooked(recorder):
        yield


def descend(recorder: Recorder, leaf: tf.Variable, gradient: tf.Tensor) -> None:
    with recorder.around_update([leaf], [gradient], OWNER):
        leaf.assign_sub(gradient)


def firsts(trajectory: Trajectory) -> list[float]:
    return [update.leaves[0].first for update in trajectory.updates]


def test_eager(recorder: Recorder, recorded: Callable[[], Trajectory]) -> None:
    leaf = tf.Variable([10.0, 2.0], name="w")
    descend(recorder, leaf, tf.constant([3.0, 4.0]))
    [update] = recorded().updates
    assert update.gradient_norm == 5.0
    [seen] = update.leaves
    assert (seen.name, seen.shape, seen.dtype) == ("w:0", (2,), "float32")
    assert dataclasses.astuple(seen)[4:] == digest_of(leaf.numpy(), np.float32([10.0, 2.0]))
    assert (seen.step, seen.step_total) == (5.0, -7.0)


def test_every_run_of_a_traced_function_in_program_order(
    recorder: Recorder, recorded: Callable[[], Trajectory]
) -> None:
    one, two = tf.Variable(0.0), tf.Variable(100.0)

    @tf.function
    def step(gradient: tf.Tensor) -> None:
        descend(recorder, one, gradient)
        if gradient > 1.5:
            descend(recorder, two, gradient)
        descend(recorder, one, gradient)

    for gradient in (1.0, 2.0):
        step(tf.constant(gradient))
    assert firsts(recorded()) == [-1.0, -2.0, -4.0, 98.0, -6.0]
    numbers = [update.leaves[0].number for update in recorded().updates]
    assert numbers == [1, 1, 1, 2, 1]  # both go by the name `Variable`


def test_while_loop(recorder: Recorder, recorded: Callable[[], Trajectory]) -> None:
    leaf = tf.Variable(0.0)

    @tf.function
    def loop() -> None:
        for _ in tf.range(20):
            descend(recorder, leaf, tf.constant(1.0))

    loop()
    assert firsts(recorded()) == [-1.0 - step for step in range(20)]


def test_an_update_inside_an_update_is_one(
    recorder: Recorder, recorded: Callable[[], Trajectory]
) -> None:
    leaf = tf.Variable(1.0)
    with recorder.around_update([leaf], [tf.constant(1.0)], OWNER):
        descend(recorder, leaf, tf.constant(1.0))
    descend(recorder, leaf, tf.constant(1.0))
    assert firsts(recorded()) == [0.0, -1.0]


def test_an_update_that_raises_is_not_recorded_and_the_next_one_is(
    recorder: Recorder, recorded: Callable[[], Trajectory]
) -> None:
    leaf = tf.Variable(1.0)
    with pytest.raises(ValueError, match="no"), recorder.around_update([leaf], [leaf], OWNER):
        raise ValueError("no")
    descend(recorder, leaf, tf.constant(1.0))
    assert firsts(recorded()) == [0.0]


def test_threads_that_train_at_once(recorder: Recorder, recorded: Callable[[], Trajectory]) -> None:
    leaves = [tf.Variable(tf.zeros(size)) for size in (1, 2, 3, 4)]

    def train(leaf: tf.Variable) -> None:
        for _ in range(10):
            descend(recorder, leaf, tf.ones_like(leaf))

    threads = [threading.Thread(target=train, args=(leaf,)) for leaf in leaves]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    updates = recorded().updates
    assert [update.index for update in updates] == list(range(1, 41))
    for leaf in leaves:
        own = [update for update in updates if update.leaves[0].shape == leaf.shape]
        assert [update.leaves[0].first for update in own] == [-1.0 - step for step in range(10)]


def test_a_thread_that_writes_while_another_opens_the_file(
    recorded: Callable[[], Trajectory], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = RecordFile(tmp_path)
    opening = os.open

    def other_first(*arguments: Any) -> int:
        monkeypatch.undo()
        file.write(kind="note", text="other")
        return opening(*arguments)

    monkeypatch.setattr(os, "open", other_first)
    file.write(kind="note", text="one")
    assert recorded().notes == ["other", "one"]


def test_a_new_leaf_with_the_id_of_one_that_is_gone(
    recorder: Recorder, recorded: Callable[[], Trajectory], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(variables_module, "id", lambda _: 1, raising=False)
    for size in (2, 3):
        descend(recorder, tf.Variable(tf.zeros(size)), tf.ones(size))
    assert [update.leaves[0].shape for update in recorded().updates] == [(2,), (3,)]


def test_missing_and_sparse_gradients_and_half_precision(
    recorder: Recorder, recorded: Callable[[], Trajectory]
) -> None:
    table = tf.Variable(tf.zeros((4, 2)))
    half = tf.Variable([1.0, 2.0], dtype=tf.bfloat16)
    rows = tf.IndexedSlices(tf.constant([[1.0, 0.0], [2.0, 4.0]]), tf.constant([1, 1]), (4, 2))
    with recorder.around_update([table, half], [rows, None], OWNER):
        pass
    [update] = recorded().updates
    assert update.gradient_norm == 5.0
    assert update.gradients == ((5.0, 7.0), None)
    assert [leaf.dtype for leaf in update.leaves] == ["float32", "bfloat16"]
    assert update.leaves[1].total == 3.0


def optimizers() -> list[object]:
    return [
        keras.optimizers.SGD(1.0),
        keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD(1.0), initial_scale=1.0),
        tf_keras.optimizers.SGD(1.0),
        tf_keras.optimizers.legacy.SGD(1.0),
    ]


@pytest.mark.usefixtures("hooked")
@pytest.mark.parametrize("index", range(4), ids=["keras", "loss scale", "tf_keras", "legacy"])
@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "tf.function"])
def test_keras_optimizers(index: int, compiled: bool, recorded: Callable[[], Trajectory]) -> None:
    optimizer = optimizers()[index]
    leaf = (keras.Variable if index < 2 else tf.Variable)([10.0, 2.0])

    def step() -> None:
        optimizer.apply_gradients(zip([tf.constant([3.0, 4.0])], [leaf], strict=True))

    run = tf.function(step) if compiled else step
    run()
    run()
    trajectory = recorded()
    assert [update.gradient_norm for update in trajectory.updates] == [5.0, 5.0]
    assert firsts(trajectory) == [7.0, 4.0]


@pytest.mark.usefixtures("hooked")
def test_keras_fit(recorded: Callable[[], Trajectory]) -> None:
    model = keras.Sequential([keras.layers.Input((2,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse", jit_compile=False)
    model.fit(np.ones((6, 2)), np.ones((6, 1)), batch_size=2, epochs=2, verbose=0)
    updates = recorded().updates
    assert len(updates) == 6
    assert updates[-1].leaves[0].norm == pytest.approx(np.linalg.norm(model.weights[0]))


class Renamed(keras.optimizers.SGD):
    """A user's own optimizer, which `setup` adopts: its update runs inside ours."""


@pytest.mark.usefixtures("hooked")
@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "tf.function"])
@pytest.mark.parametrize("rule", ["rule", "keras", "adopted"])
def test_tfexplicit_updates_are_recorded_once(
    rule: str, compiled: bool, recorded: Callable[[], Trajectory]
) -> None:
    made = {"rule": tx.SGD, "keras": keras.optimizers.SGD, "adopted": Renamed}[rule](1.0)
    leaf = tf.Variable([10.0, 2.0])
    opt_state = tx.setup(made, [leaf])

    def step() -> None:
        tx.update(opt_state, [leaf], [tf.constant([3.0, 4.0])])

    run = tf.function(step) if compiled else step
    run()
    run()
    trajectory = recorded()
    assert firsts(trajectory) == [7.0, 4.0]
    assert [update.gradient_norm for update in trajectory.updates] == [5.0, 5.0]


PROGRAM = """\
import tensorflow as tf

leaf = tf.Variable(4.0)
optimizer = tf.keras.optimizers.SGD(0.25)
done = []

{decorator}
def gradient():
    with tf.GradientTape() as tape:
        loss = leaf**2
    return loss, tape.gradient(loss, [leaf])

{decorator}
def step():
    for _ in {range}(2):
        optimizer.apply_gradients(zip(gradient()[1], [leaf]))

step()
done.append(1)
step()
done.append(2)
"""


@pytest.mark.parametrize(
    ("decorator", "range"), [("", "range"), ("@tf.function", "tf.range")], ids=["eager", "graph"]
)
def test_the_loss_and_the_end_after_some_updates(
    decorator: str, range: str, recording: ModuleType, tmp_path: Path
) -> None:
    program = PROGRAM.format(decorator=decorator, range=range)
    whole = recording.record(program, tmp_path / "whole")
    losses = [16.0, 4.0, 1.0, 0.25]
    # A gradient that comes from a graph of its own no longer knows its loss.
    assert [update.loss for update in whole.updates] == ([None] * 4 if decorator else losses)
    assert [leaf.first for leaf in whole.values] == [0.25]
    assert not whole.cut_short
    with pytest.raises(Finished) as finished:
        recording.record(program, tmp_path / "short", 3)
    assert finished.value.code == 0
    short = recording.recorded_in(tmp_path / "short")
    assert short.updates == whole.updates[:3]
    assert short.ended
    assert short.cut_short


@pytest.mark.usefixtures("hooked")
def test_what_layers_keep_is_recorded(recorded: Callable[[], Trajectory]) -> None:
    model = keras.Sequential([keras.layers.BatchNormalization(momentum=0.5, name="norm")])
    model.build((None, 1))
    optimizer = keras.optimizers.SGD(1.0)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(model(tf.constant([[1.0], [3.0]]), training=True) ** 2)
    optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)
    [update] = recorded().updates
    assert {leaf.name.rpartition("/")[2]: leaf.first for leaf in update.state} == {
        "moving_mean": 1.0,
        "moving_variance": 1.0,
    }
    assert update.owner == (1, "SGD")
