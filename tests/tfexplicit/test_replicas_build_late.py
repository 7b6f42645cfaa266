"""A model that is built by its first call in `strategy.run` gets its slots there."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """\
import numpy as np, tensorflow as tf, tf_keras
import tfexplicit as tx

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
X = np.random.default_rng(0).normal(size=(8, 3)).astype("float32")


def trained(make, explicit):
    tf_keras.utils.set_random_seed(0)
    with strategy.scope():
        net = tf_keras.Sequential([tf_keras.layers.Dense(2), tf_keras.layers.Dense(1)])
        optimizer = make()
        state = tx.setup(optimizer, net) if explicit else None

    def replica(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(net(x) ** 2)
        grads = tape.gradient(loss, net.trainable_variables)
        if explicit:
            tx.update(state, net, grads)
        else:
            optimizer.apply_gradients(zip(grads, net.trainable_variables))

    step = tf.function(lambda x: strategy.run(replica, args=(x,)))
    data = tf.data.Dataset.from_tensor_slices(X).batch(8).repeat(3)
    for x in strategy.experimental_distribute_dataset(data):
        step(x)
    return net.get_weights()


def difference(ours, theirs):
    return max(np.abs(a - b).max() for a, b in zip(ours, theirs))


keras_adam = lambda: tf_keras.optimizers.Adam(0.1)
before = trained(keras_adam, False)
print(difference(trained(keras_adam, True), before))
print(difference(trained(lambda: tx.Adam(0.1), True), before))
"""


def test_slots_are_made_in_the_first_call(environment: dict[str, str]) -> None:
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    taken_over, rule = map(float, run.stdout.split())
    assert taken_over == 0.0
    assert rule < 1e-6
