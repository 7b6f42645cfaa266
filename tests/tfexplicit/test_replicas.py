"""Two replicas give the numbers of one device with the whole batch."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

PROGRAM = """\
import json
import keras, numpy as np, tensorflow as tf
import tfexplicit as tx

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
X = np.random.default_rng(0).normal(size=(8, 3)).astype("float32")


def model():
    net = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(2, name="dense")])
    net.layers[0].kernel.assign(np.arange(6).reshape(3, 2) / 10)
    return net


def grads_of(net, x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(net(x) ** 2)
    return tape.gradient(loss, tx.trainables(net))


def one_device(make, freeze):
    net = model()
    state = tx.setup(make(), net)
    for step in range(4):
        if freeze and step == 2:
            tx.freeze(state["dense/bias"])
        tx.update(state, net, grads_of(net, tf.constant(X)))
    return [v.numpy().ravel().tolist() for v in net.trainable_variables] + [int(state.step.numpy())]


def clipped_in_two_replicas(explicit):
    with strategy.scope():
        net = model()
        optimizer = keras.optimizers.SGD(0.1, global_clipnorm=1.0)
        if explicit:
            state = tx.setup(optimizer, net)
        else:
            optimizer.build(net.trainable_variables)

    @tf.function
    def step():
        def replica():
            number = tf.distribute.get_replica_context().replica_id_in_sync_group
            grads = grads_of(net, tf.gather(tf.reshape(X, (2, 4, 3)), number))
            if explicit:
                tx.update(state, net, grads)
            else:
                optimizer.apply_gradients(zip(grads, net.trainable_variables))
        strategy.run(replica)

    for _ in range(3):
        step()
    return [v.numpy().ravel().tolist() for v in net.trainable_variables]


def two_replicas(make, freeze, compiled):
    with strategy.scope():
        net = model()
        state = tx.setup(make(), net)

    def step():
        def replica():
            number = tf.distribute.get_replica_context().replica_id_in_sync_group
            half = tf.gather(tf.reshape(X, (2, 4, 3)), number)
            tx.update(state, net, grads_of(net, half))
        strategy.run(replica)

    run = tf.function(step) if compiled else step
    for number in range(4):
        if freeze and number == 2:
            tx.freeze(state["dense/bias"])
        run()
    leaf = net.layers[0].kernel.value
    copies = [component.numpy().tolist() for component in leaf.values]
    assert copies[0] == copies[1]
    slots = state["dense/kernel"].slots
    assert all("Mirrored" in type(tx.arrays.raw(slot)).__name__ for slot in slots.values()), slots
    return [v.numpy().ravel().tolist() for v in net.trainable_variables] + [int(state.step.numpy())]


def mirrored_outside_of_replicas(make):
    with strategy.scope():
        net, optimizer = model(), make()
    state = tx.setup(optimizer, net)
    for _ in range(4):
        tx.update(state, net, grads_of(net, tf.constant(X)))
    for leaf in net.trainable_variables:
        assert len({component.numpy().tobytes() for component in leaf.value.values}) == 1
    return [v.numpy().ravel().tolist() for v in net.trainable_variables] + [int(state.step.numpy())]


MAKE = {
    "rule": lambda: tx.Chain(tx.ClipByGlobalNorm(1.0), tx.Adam(0.1)),
    "keras": lambda: keras.optimizers.Adam(0.1),
}
# The own update of an adopted optimizer: Keras 3.3 does not sum gradients over replicas in it.
if tuple(map(int, keras.__version__.split(".")[:2])) > (3, 3):
    MAKE["adopted"] = lambda: keras.optimizers.Nadam(0.1)
out = {"clipped": (clipped_in_two_replicas(False), clipped_in_two_replicas(True))}
out["outside"] = one_device(MAKE["keras"], False), mirrored_outside_of_replicas(MAKE["keras"])
for name, make in MAKE.items():
    for freeze in (False, True):
        for compiled in (True, False):
            if (name, compiled) == ("adopted", False) and freeze:
                continue
            out[f"{name} freeze={freeze} compiled={compiled}"] = (
                one_device(make, freeze), two_replicas(make, freeze, compiled))
with strategy.scope():
    late = keras.Sequential([keras.layers.Dense(1, name="dense")])
    state = tx.setup(tx.SGD(), late)
    late.build((None, 3))
    before = late.get_weights()
    strategy.run(lambda: tx.update(state, late, [tf.ones((3, 1)), tf.ones(1)]))
    out["late"] = [float(np.ptp(a - b)) for a, b in zip(before, late.get_weights())]
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
        [sys.executable, str(path)],
        capture_output=True,
        text=True,
        env=environment,
    )
    assert ran.returncode == 0, ran.stderr[-3000:]
    found: dict[str, Any] = json.loads(ran.stdout.split("RESULT")[1])
    return found


def test_replicas_train_as_one_device(results: dict[str, Any]) -> None:
    pairs = {name: pair for name, pair in results.items() if name not in ("late", "clipped")}
    assert len(pairs) >= 8
    for name, (one, two) in pairs.items():
        kernels, biases = ([values[part] for values in (one, two)] for part in (0, 1))
        assert kernels[0] == pytest.approx(kernels[1], rel=1e-5, abs=1e-6), name
        assert biases[0] == pytest.approx(biases[1], rel=1e-5, abs=1e-6), name
        assert one[-1] == two[-1] == 4


def test_a_keras_optimizer_clips_on_each_replica_as_before(results: dict[str, Any]) -> None:
    implicit, explicit = results["clipped"]
    assert explicit == implicit


def test_slots_are_made_inside_the_replicas_too(results: dict[str, Any]) -> None:
    # Every weight has moved by the same step.
    assert results["late"] == pytest.approx([0.0, 0.0], abs=1e-6)
