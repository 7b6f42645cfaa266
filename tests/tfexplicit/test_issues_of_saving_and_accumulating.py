"""Issues 9 to 17 that implicit state gave its users: saving, accumulation, replicas, speed."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import tfexplicit as tx

GRADS = [[0.3, -1.0], [-0.1, 0.5], [0.7, 0.2], [0.4, -0.4]]


def model_of(*names: str) -> dict[str, Any]:
    return {name: tf.Variable([float(ord(name)), -1.0]) for name in names}


def train(state: Any, model: dict[str, Any], grads: Any) -> list[Any]:
    """Each leaf with a gradient of its own; the values in the order of the names."""
    for grad in grads:
        scaled = {name: tf.constant(grad) * (1.0 + ord(name) % 7) for name in model}
        tx.update(state, model, scaled)
    return [model[name].numpy() for name in sorted(model)]


def test_issue_09_a_state_that_does_not_fit_is_not_dropped_in_silence() -> None:
    """tensorflow#44670, #52368, #53064, tf-keras#70, #504, keras#16833: moments lost."""
    model = model_of("a", "b")
    state = tx.setup(tx.Adam(0.1), model)
    train(state, model, GRADS[:2])
    saved, weights = tx.state_dict(state), tx.params(model)
    expected = train(state, model, GRADS[2:])

    again = model_of("a", "b")
    tx.assign(again, weights)
    restored = tx.setup(tx.Adam(0.1), again)
    tx.load_state_dict(restored, saved)
    np.testing.assert_array_equal(train(restored, again, GRADS[2:]), expected)

    larger = tx.setup(tx.Adam(0.1), model_of("a", "b", "c"))
    with pytest.raises(ValueError, match="missing: c/slots/momentum"):
        tx.load_state_dict(larger, saved)
    assert int(larger.step) == 0
    assert not np.any(larger["a"].slots["momentum"])


def test_issue_10_a_state_can_be_read_and_set_before_the_first_step() -> None:
    """keras#16983, tf-keras#442, tensorflow#50859, keras#15298: `set_weights` fails before it."""
    model, other = model_of("a"), model_of("a")
    state, unused = tx.setup(tx.Adam(0.1), model), tx.setup(tx.Adam(0.1), other)
    assert tx.state_dict(unused)["leaves"]["a"]["slots"]["velocity"].tolist() == [0.0, 0.0]
    train(state, model, GRADS)
    tx.load_state_dict(unused, tx.state_dict(state))
    assert unused["a"].slots["velocity"][1] == state["a"].slots["velocity"][1] != 0.0


@pytest.mark.parametrize("how", ["state_dict", "checkpoint"])
def test_issue_11_layers_made_in_another_order_restore_by_path(how: str, tmp_path: Path) -> None:
    """tensorflow#34182: optimizer weights are saved by position, and land on other layers."""
    model, other = model_of("a", "b"), model_of("b", "a")
    rule = tx.Chain(tx.LossScale(initial_scale=4.0), tx.Adam(0.1))
    state, restored = tx.setup(rule, model), tx.setup(rule, other)
    train(state, model, GRADS)
    tx.freeze(state["a"])
    tx.adjust(state["b"], learning_rate=0.5)
    if how == "state_dict":
        tx.load_state_dict(restored, tx.state_dict(state))
    else:
        path = tf.train.Checkpoint(state=state).save(str(tmp_path / "saved"))
        tf.train.Checkpoint(state=restored).restore(path).assert_existing_objects_matched()
    assert list(restored) == ["b", "a"]
    np.testing.assert_equal(tx.state_dict(restored), tx.state_dict(state))
    assert tx.state_dict(restored)["leaves"]["a"]["frozen"]
    assert [float(restored[name].hyper["learning_rate"]) for name in "ab"] == [0.1, 0.5]


def test_issue_12_a_state_is_copied() -> None:
    """tensorflow#58973: `copy.deepcopy(optimizer)` raises since TensorFlow 2.11."""
    model = model_of("a")
    state = tx.setup(tx.Adam(0.1), model)
    train(state, model, GRADS[:2])
    twin, twin_state = copy.deepcopy((model, state))
    expected = train(twin_state, twin, GRADS[2:])
    assert int(state.step) == 2
    np.testing.assert_array_equal(train(state, model, GRADS[2:]), expected)


def test_issue_13_accumulation_decays_counts_and_averages_once_per_real_step() -> None:
    """keras#19990, PR#19998: decay at every micro-step, a wrong count; EMA still at every one."""
    tail = (tx.Adam(0.1), tx.DecoupledWeightDecay(0.1), tx.EMA(0.9))
    micro, real = model_of("a"), model_of("a")
    accumulated = tx.setup(tx.Chain(tx.AccumulateGrads(2), *tail), micro)
    whole = tx.setup(tx.Chain(*tail), real)
    means = [np.mean(GRADS[:2], 0), np.mean(GRADS[2:], 0)]
    ours = train(accumulated, micro, np.float32(GRADS))
    np.testing.assert_allclose(ours, train(whole, real, np.float32(means)), rtol=1e-6)
    averages = [tx.ema_params(accumulated, micro)["a"], tx.ema_params(whole, real)["a"]]
    np.testing.assert_allclose(*averages, rtol=1e-6)
    assert not np.array_equal(averages[0], micro["a"])


# Two replicas with the gradients [10, 0] and [-10, 1], as in the report on clipping.
PROGRAM = """\
import json
import tempfile
import tensorflow as tf
import tfexplicit as tx

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
PARTS = tf.constant([[[10.0, 0.0], [-10.0, 1.0]], [[1.0, 2.0], [3.0, 4.0]]])


def trained(rule, parts):
    with strategy.scope():
        leaf = tf.Variable([0.0, 0.0])
        state = tx.setup(rule, [leaf])

    @tf.function
    def step(parts):
        def replica():
            number = tf.distribute.get_replica_context().replica_id_in_sync_group
            tx.update(state, [leaf], [tf.gather(parts, number)])
        strategy.run(replica)

    rows = []
    for each in parts:
        step(each)
        rows.append(leaf.numpy().tolist())
    return rows


def restored():
    with strategy.scope():
        leaves = {name: tf.Variable([0.0]) for name in "ab"}
        states = [tx.setup(tx.SGD(1.0, momentum=0.5), leaves) for _ in range(2)]
    tx.freeze(states[0]["a"])
    tx.adjust(states[0]["b"], learning_rate=0.25)
    path = tf.train.Checkpoint(state=states[0]).save(tempfile.mkdtemp() + "/saved")
    tf.train.Checkpoint(state=states[1]).restore(path).assert_consumed()
    strategy.run(lambda: tx.update(states[1], leaves, {n: tf.ones([1]) for n in "ab"}) and None)
    return [float(leaf.numpy()[0]) for leaf in leaves.values()]


infinite = tf.constant([[1.0, 1.0], [float("inf"), 1.0]])
scaled = tx.Chain(tx.LossScale(initial_scale=2.0), tx.SGD(1.0))
print("RESULT" + json.dumps({
    "accumulated": trained(tx.Chain(tx.AccumulateGrads(2), tx.SGD(1.0)), tf.unstack(PARTS)),
    "scaled": trained(scaled, [PARTS[1], infinite, PARTS[1]]),
    "clipped": trained(tx.Chain(tx.ClipByNorm(1.0), tx.SGD(1.0)), [PARTS[0]]),
    "restored": restored(),
}))
"""


@pytest.fixture(scope="module")
def in_two_replicas(
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


def test_issue_14_accumulation_and_loss_scale_in_replicas(in_two_replicas: dict[str, Any]) -> None:
    """keras#20582, #17429, #18666, tf-keras#301, tensorflow#59487: "merge_call called"."""
    # The gradients of a step add up to [0, 1] and [4, 6]; the scale of 2 is halved by the overflow.
    assert in_two_replicas["accumulated"] == [[0.0, 0.0], [-2.0, -3.5]]
    assert in_two_replicas["scaled"] == [[-2.0, -3.0], [-2.0, -3.0], [-6.0, -9.0]]


def test_a_state_in_replicas_is_restored(in_two_replicas: dict[str, Any]) -> None:
    assert in_two_replicas["restored"] == [0.0, -0.5]


def test_issue_15_clipping_is_by_leaf_or_global_and_after_the_sum_over_replicas(
    in_two_replicas: dict[str, Any],
) -> None:
    """tensorflow#33929, #36001, #29108, keras#13575, #17278: which norm, and of which gradient?"""
    assert in_two_replicas["clipped"] == [[0.0, -1.0]]
    clipped = {}
    for clip in (tx.ClipByNorm(1.0), tx.ClipByGlobalNorm(1.0)):
        model = [tf.Variable([0.0]), tf.Variable([0.0])]
        tx.update(
            tx.setup(tx.Chain(clip, tx.SGD(1.0)), model),
            model,
            [tf.constant([g]) for g in (3.0, 4.0)],
        )
        clipped[type(clip)] = [-float(leaf[0]) for leaf in model]
    assert clipped[tx.ClipByNorm] == pytest.approx([1.0, 1.0])
    assert clipped[tx.ClipByGlobalNorm] == pytest.approx([0.6, 0.8])


def test_issue_16_eager_steps_run_one_compiled_function() -> None:
    """tensorflow#59961, keras#17668, #19307, tf-keras#238: 1.7 s a step, not 0.1 s."""
    runs = []

    class Counted(tx.SGD):
        def apply(self, slots: Any, leaf: Any, grad: Any, step: Any) -> Any:
            runs.append(tf.executing_eagerly())
            return super().apply(slots, leaf, grad, step)

    model = model_of("a", "b", "c")
    state = tx.setup(Counted(0.1), model)
    for rate in (0.1, 0.2, 0.3):
        tx.adjust(state, learning_rate=rate)
        train(state, model, GRADS)
    # Python ran once per leaf, while the step was traced.
    assert runs == [False] * 3
    assert int(state.step) == 12


def test_issue_17_rows_of_an_embedding_that_come_twice_are_added_up() -> None:
    """keras#19992: sparse updates are slow, and wrong for repeated ids."""
    table = tf.Variable(tf.ones([3, 1]))
    state = tx.setup(tx.Adagrad(0.1), [table])
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.gather(table, [0, 0, 1]))
    grads = tape.gradient(loss, [table])
    assert isinstance(grads[0], tf.IndexedSlices)
    tx.update(state, [table], grads)
    expected = [1 - 0.1 * g / np.sqrt(0.1 + g * g + 1e-7) for g in (2.0, 1.0, 0.0)]
    np.testing.assert_allclose(table[:, 0], expected, rtol=1e-6)
