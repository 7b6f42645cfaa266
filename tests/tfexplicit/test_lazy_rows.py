"""`sparse="lazy"`: the rows that a gradient has are stepped, the others stay with their slots."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

import tfexplicit as tx
from tfexplicit.rules import all_rules

ROWWISE = [
    rule for name in sorted(all_rules) for rule in all_rules[name].variants() if rule.rowwise
]
BATCHES = ([0, 0, 2], [2, 4, 1], [0, 4, 4])


def table() -> tf.Variable:
    return tf.Variable(np.linspace(-1, 1, 10, dtype=np.float32).reshape(5, 2))


def gradient(ids: list[int]) -> tf.IndexedSlices:
    values = np.arange(1.0, 1.0 + 2 * len(ids), dtype=np.float32).reshape(-1, 2)
    return tf.IndexedSlices(tf.constant(values), tf.constant(ids), tf.constant([5, 2]))


def dense(ids: list[int]) -> np.ndarray:
    """The same gradient as an array, by NumPy."""
    total = np.zeros((5, 2), np.float32)
    np.add.at(total, ids, np.asarray(gradient(ids).values))
    return total


def arrays(state: Any, leaf: Any) -> list[np.ndarray]:
    slots = state[state.paths[0]].slots.values()
    return [np.asarray(array) for array in (leaf, *slots)]


@pytest.mark.parametrize("rule", ROWWISE, ids=repr)
def test_seen_rows_go_as_in_a_table_of_their_own(rule: tx.Rule) -> None:
    """The fact to compare with: the whole table stepped densely, then unseen rows put back."""
    lazy, whole = table(), table()
    lazy_state = tx.setup(rule, lazy, sparse="lazy")
    whole_state = tx.setup(rule, whole)
    pure_state: Any = lazy_state
    for number, ids in enumerate(BATCHES):
        unseen = [row for row in range(5) if row not in ids]
        cells = [whole, *whole_state[whole_state.paths[0]].slots.values()]
        before = [np.copy(cell.numpy()) for cell in cells]
        tx.update(whole_state, whole, tf.constant(dense(ids)))
        for cell, old in zip(cells, before, strict=True):
            if old.shape == (5, 2):
                new = np.copy(cell.numpy())
                new[unseen] = old[unseen]
                cell.assign(new)
        pure_state, pure = tx.updated(lazy_state, lazy, gradient(ids))
        tx.update(lazy_state, lazy, gradient(ids))
        for one, other, third in zip(
            arrays(lazy_state, lazy),
            arrays(whole_state, whole),
            arrays(pure_state, pure),
            strict=True,
        ):
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-7, err_msg=f"step {number}")
            np.testing.assert_allclose(third, one, rtol=1e-5, atol=1e-7)


def test_one_trace_serves_any_number_of_rows() -> None:
    leaf = table()
    state = tx.setup(tx.Adam(0.1), leaf, sparse="lazy")
    for count in range(1, 5):
        tx.update(state, leaf, gradient(list(range(count))))
    (compiled,) = state.plan.compiled.values()
    assert compiled.experimental_get_tracing_count() <= 2


def test_no_op_of_the_step_has_the_size_of_the_table() -> None:
    """So the cost does not grow with the table."""
    rows = 5000
    leaf = tf.Variable(tf.ones([rows, 2]))
    state = tx.setup(tx.Chain(tx.ClipByGlobalNorm(1.0), tx.Adam(0.1)), leaf, sparse="lazy")

    @tf.function
    def step(ids: Any, values: Any) -> None:
        tx.update(state, leaf, tf.IndexedSlices(values, ids, tf.constant([rows, 2])))

    graph = step.get_concrete_function(tf.constant([3, 1]), tf.ones([2, 2])).graph
    large = [
        tensor.name
        for operation in graph.get_operations()
        for tensor in operation.outputs
        if tensor.shape.rank and tensor.shape[0] == rows
    ]
    assert large == []


def test_frozen_rows_stay_and_dense_gradients_still_step_everything() -> None:
    leaf = table()
    state = tx.setup(tx.Adam(0.1), leaf, sparse="lazy")
    tx.freeze(state)
    before = leaf.numpy()
    tx.update(state, leaf, gradient([0, 1]))
    assert np.array_equal(leaf.numpy(), before)
    tx.thaw(state)
    tx.update(state, leaf, tf.ones([5, 2]))
    assert (leaf.numpy() < before).all()


def test_repeated_ids_count_once_in_a_global_norm() -> None:
    leaf = table()
    before = leaf.numpy()
    state = tx.setup(tx.Chain(tx.ClipByGlobalNorm(1.0), tx.SGD(1.0)), leaf, sparse="lazy")
    tx.update(state, leaf, gradient([0, 0, 2]))
    expected = dense([0, 0, 2])
    np.testing.assert_allclose(
        before - leaf.numpy(), expected / np.linalg.norm(expected), rtol=1e-5, atol=1e-7
    )


def test_the_pure_step_is_differentiated_once_per_row() -> None:
    values = tf.constant([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]])
    leaf = tf.constant(np.ones((5, 2), np.float32))
    state = tx.setup(tx.SGD(0.5), leaf, sparse="lazy")
    with tf.GradientTape() as tape:
        tape.watch(values)
        slices = tf.IndexedSlices(values, tf.constant([0, 0, 2]), tf.constant([5, 2]))
        _, moved = tx.updated(state, leaf, slices)
        total = tf.reduce_sum(moved)
    gradients = tf.convert_to_tensor(tape.gradient(total, values))
    np.testing.assert_allclose(gradients, -0.5 * np.ones((3, 2)))


def test_it_compiles_with_xla() -> None:
    one, other = table(), table()
    states = [tx.setup(tx.Adam(0.1), leaf, sparse="lazy") for leaf in (one, other)]
    step = tf.function(
        lambda: tx.update(states[0], one, gradient([0, 0, 2])) and None, jit_compile=True
    )
    step()
    tx.update(states[1], other, gradient([0, 0, 2]))
    np.testing.assert_allclose(one, other, rtol=1e-5)


REPLICAS = """\
import tensorflow as tf
import tfexplicit as tx

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])


def slices(ids):
    return tf.IndexedSlices(tf.ones([len(ids), 2]), tf.stack(ids), tf.constant([5, 2]))


def replica():
    index = tf.distribute.get_replica_context().replica_id_in_sync_group
    tx.update(state, leaf, slices([index, tf.constant(3)]))


with strategy.scope():
    leaf = tf.Variable(tf.ones([5, 2]))
state = tx.setup(tx.Adam(0.1), leaf, sparse="lazy")
step = tf.function(lambda: strategy.run(replica))
step()
step()
alone = tf.Variable(tf.ones([5, 2]))
alone_state = tx.setup(tx.Adam(0.1), alone, sparse="lazy")
for _ in range(2):
    tx.update(alone_state, alone, slices([0, 3, 1, 3]))
print(float(tf.reduce_max(tf.abs(leaf - alone))), float(leaf[2, 0]), float(leaf[0, 0]))
"""


def test_several_replicas_step_the_rows_of_all(environment: dict[str, str]) -> None:
    run = subprocess.run(
        [sys.executable, "-c", REPLICAS], env=environment, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    difference, unseen, seen = map(float, run.stdout.split())
    assert difference < 1e-6
    assert unseen == 1.0
    assert seen < 1.0


def test_what_needs_the_whole_leaf_is_refused_or_stepped_whole() -> None:
    class Whole(tx.SGD):
        rowwise = False

    with pytest.raises(ValueError, match=r"rowwise = True"):
        tx.setup(Whole(0.1), table(), sparse="lazy")
    with pytest.raises(ValueError, match=r"Use a rule: tx\.setup"):
        tx.setup(keras.optimizers.Adam(), table(), sparse="lazy")
    with pytest.raises(ValueError, match='"dense" or "lazy"'):
        tx.setup(tx.Adam(), table(), sparse="rows")  # type: ignore[arg-type]
