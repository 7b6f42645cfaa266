"""Modifiers in two replicas: the numbers of one device, and one decision for all replicas."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

PROGRAM = """\
import json
import numpy as np, tensorflow as tf
import tfexplicit as tx

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
# For each step and replica, the gradients of two leaves; one replica meets a NaN once.
GRADS = np.random.default_rng(0).normal(size=(6, 2, 2)).astype("float32")
GRADS[2, 1, 0] = np.nan

RULES = {
    "skip": lambda: tx.Chain(tx.SkipNonFinite(), tx.ClipByGlobalNorm(0.5), tx.Adam(0.1)),
    "scale": lambda: tx.Chain(tx.LossScale(4.0, dynamic_growth_steps=2), tx.Adam(0.1), tx.EMA(0.5)),
    "accumulate": lambda: tx.Chain(
        tx.AccumulateGrads(2), tx.SkipNonFinite(), tx.ClipByGlobalNorm(0.5), tx.SGD(0.1),
        tx.DecoupledWeightDecay(0.1), tx.Lookahead(2)),
}


def numbers(state, model):
    shared = [float(cell.numpy()) for group in state.groups for cell in group.shared.values()]
    return [float(v.numpy()) for v in model], shared, float(tx.scale_loss(state, 1.0))


def one_device(rule):
    model = [tf.Variable(1.0), tf.Variable(2.0)]
    state = tx.setup(rule, model)
    for grads in GRADS:
        tx.update(state, model, list(tf.constant(grads.sum(axis=0))))
    return numbers(state, model)


def two_replicas(rule, compiled):
    with strategy.scope():
        model = [tf.Variable(1.0), tf.Variable(2.0)]
        state = tx.setup(rule, model)

    def step(grads):
        def replica(grads):
            number = tf.distribute.get_replica_context().replica_id_in_sync_group
            tx.update(state, model, tf.unstack(tf.gather(grads, number)))
        strategy.run(replica, args=(grads,))

    run = tf.function(step) if compiled else step
    for grads in GRADS:
        run(tf.constant(grads))
    for leaf in model:
        copies = [component.numpy() for component in leaf.values]
        assert copies[0] == copies[1], copies
    return numbers(state, model)


out = {name: [one_device(make()), two_replicas(make(), True), two_replicas(make(), False)]
       for name, make in RULES.items()}
print("RESULT" + json.dumps(out))
"""


@pytest.fixture(scope="module")
def results(
    tmp_path_factory: pytest.TempPathFactory, environment: dict[str, str]
) -> dict[str, Any]:
    """In a process of its own: the number of devices is fixed once TensorFlow has started."""
    path = tmp_path_factory.mktemp("replicas") / "program.py"
    path.write_text(PROGRAM)
    ran = subprocess.run(
        [sys.executable, str(path)], capture_output=True, text=True, env=environment
    )
    assert ran.returncode == 0, ran.stderr[-3000:]
    found: dict[str, Any] = json.loads(ran.stdout.split("RESULT")[1])
    return found


@pytest.mark.parametrize("name", ["skip", "scale", "accumulate"])
def test_replicas_train_as_one_device(results: dict[str, Any], name: str) -> None:
    (leaves, shared, scale), *replicated = results[name]
    assert all(abs(leaf) < 10 for leaf in leaves)
    for values, scalars, scale_there in replicated:
        assert values == pytest.approx(leaves, rel=1e-5)
        assert scalars == shared
        assert scale_there == scale


def test_one_nan_on_one_replica_is_one_step_left_out(results: dict[str, Any]) -> None:
    _, shared, _ = results["skip"][1]
    assert shared == [0.0, 1.0]
    # Two good steps double, the bad one halves, and there are three good ones after it.
    assert results["scale"][1][2] == 4.0 * 2 / 2 * 2
