"""`train`: the usual loop, and what happens when it ends before its time."""

from __future__ import annotations

import signal
import subprocess
import sys
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

import tfexplicit as tx

DATA = [(np.full((2, 1), float(n), np.float32), np.ones((2, 1), np.float32)) for n in range(1, 4)]


def model() -> Any:
    net = keras.Sequential([keras.layers.Input((1,)), keras.layers.Dense(1)])
    net.layers[0].kernel.assign([[0.1]])
    return net


def loss_fn(net: Any, x: Any, y: Any) -> Any:
    return tf.reduce_mean((net(x) - y) ** 2)


def test_it_is_the_loop_that_one_would_write() -> None:
    nets = [model(), model()]
    states = [tx.setup(tx.Adam(0.1), net) for net in nets]
    log = tx.train(loss_fn, nets[0], DATA, states[0], epochs=2, progress=False)
    losses = []
    for batch in [*DATA, *DATA]:
        loss, grads = tx.value_and_grad(loss_fn)(nets[1], *batch)
        tx.update(states[1], nets[1], grads)
        losses.append(float(loss))
    np.testing.assert_allclose(log.loss, losses, rtol=1e-5)
    np.testing.assert_allclose(nets[0].layers[0].kernel, nets[1].layers[0].kernel, rtol=1e-5)
    assert int(states[0].step) == 6


def test_metrics_and_callbacks_see_every_step() -> None:
    net = model()
    state = tx.setup(tx.SGD(0.01), net)
    seen: list[tx.TrainStep] = []

    def with_metrics(net: Any, x: Any, y: Any) -> Any:
        return loss_fn(net, x, y), {"mean": tf.reduce_mean(x)}

    log = tx.train(
        with_metrics, net, DATA, state, epochs=2, callbacks=[seen.append], progress=False
    )
    assert log.metrics["mean"].tolist() == [1.0, 2.0, 3.0] * 2
    assert [(s.step, s.epoch, s.batch) for s in seen] == [
        (1, 1, 1), (2, 1, 2), (3, 1, 3), (4, 2, 1), (5, 2, 2), (6, 2, 3)
    ]  # fmt: skip
    assert seen[0].opt_state is state
    assert [s.loss for s in seen] == log.loss.tolist()


def test_a_callback_that_returns_true_ends_it_and_all_are_called() -> None:
    net = model()
    calls = []
    log = tx.train(
        loss_fn,
        net,
        DATA,
        tx.setup(tx.SGD(0.01), net),
        callbacks=[lambda step: step.step == 2, lambda step: calls.append(step.step)],
        progress=False,
    )
    assert len(log.loss) == 2
    assert calls == [1, 2]


@pytest.mark.parametrize("jit_compile", [False, True])
def test_a_loss_that_is_not_finite_is_named_and_changes_nothing(jit_compile: bool) -> None:
    net = model()
    state = tx.setup(tx.Adam(0.1), net)
    bad = [*DATA[:2], (np.full((2, 1), np.nan, np.float32), DATA[0][1]), DATA[2]]
    before = []

    def keep(step: tx.TrainStep) -> None:
        before[:] = [np.array(v) for v in net.get_weights()] + [tx.state_dict(state)]

    with pytest.raises(FloatingPointError, match=r"nan at batch 3 of epoch 1 \(step 3\)"):
        tx.train(
            loss_fn, net, bad, state, callbacks=[keep], progress=False, jit_compile=jit_compile
        )
    np.testing.assert_equal([*net.get_weights(), tx.state_dict(state)], before)
    assert int(state.step) == 2


def test_an_unbuilt_model_and_datasets_of_any_form() -> None:
    net = keras.Sequential([keras.layers.Dense(1)])
    state = tx.setup(tx.Adam(0.1), net)
    x, y = np.ones((6, 2), np.float32), np.ones((6, 1), np.float32)
    dataset = tf.data.Dataset.from_tensor_slices({"x": x, "y": y}).batch(4)
    log = tx.train(
        lambda net, batch: tf.reduce_mean((net(batch["x"]) - batch["y"]) ** 2),
        net,
        dataset,
        state,
        epochs=3,
        progress=False,
    )
    assert len(log.loss) == 6
    assert int(state.step) == 6


def test_a_used_up_iterator_is_told() -> None:
    net = model()
    with pytest.raises(ValueError, match=r"no batch in epoch 2.*gone through once"):
        tx.train(loss_fn, net, iter(DATA), tx.setup(tx.SGD(), net), epochs=2, progress=False)


def test_the_bar_shows_the_loss_and_can_be_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    net = model()
    tx.train(loss_fn, net, DATA, tx.setup(tx.SGD(0.01), net), progress=False)
    assert capsys.readouterr().err == ""
    tx.train(loss_fn, net, DATA, tx.setup(tx.SGD(0.01), net))
    assert "loss=" in capsys.readouterr().err


def test_wrong_arguments_say_what_to_write() -> None:
    net = model()
    with pytest.raises(TypeError, match=r"train: expected the state, got Adam.*tx\.setup"):
        tx.train(loss_fn, net, DATA, tf.keras.optimizers.Adam())
    values = {"w": tf.constant(1.0)}
    with pytest.raises(TypeError, match="tensors that a step must replace"):
        tx.train(loss_fn, values, DATA, tx.setup(tx.SGD(), values))
    with pytest.raises(TypeError, match=r"must return a scalar or \(scalar"):
        tx.train(lambda net, x, y: (1, 2, 3), net, DATA, tx.setup(tx.SGD(), net), progress=False)


INTERRUPTED = """\
import itertools, os, signal, sys
import tensorflow as tf
import tfexplicit as tx

w = tf.Variable([0.0] * 1000)
state = tx.setup(tx.SGD(1.0, momentum=0.0), {"w": w})

def callback(step):
    if step.step == 3:
        print("ready", flush=True)

try:
    tx.train(
        lambda net, x: -tf.reduce_sum(net["w"]), {"w": w}, itertools.repeat(1.0), state,
        callbacks=[callback], progress=False,
    )
except KeyboardInterrupt:
    # Every step adds one to all weights.
    print(int(state.step), w.numpy().min(), w.numpy().max())
"""


def test_ctrl_c_leaves_model_and_state_after_a_whole_step(environment: dict[str, str]) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    step, low, high = process.stdout.read().split()
    assert process.wait() == 0
    assert float(low) == float(high) == float(step) >= 3
