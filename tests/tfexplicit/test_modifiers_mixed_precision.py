"""`MixedPrecision`: conformance group S, and what the copy is for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import tfexplicit as tx

SMALL = ["float16", "bfloat16"]


def only_slots(state: Any) -> dict[str, Any]:
    (path,) = state.paths
    return dict(state[path].slots)


def rounded(master: Any, dtype: str) -> Any:
    return tf.cast(master, dtype).numpy()


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("wide", ["float32", "float64"])
@pytest.mark.parametrize("dtype", SMALL)
def test_the_leaf_is_its_copy_rounded(dtype: str, wide: str, compiled: bool) -> None:
    """Against the rule itself on a leaf of the wide dtype; also where a compiler may not round."""
    rng = np.random.default_rng(0)
    start = rng.normal(size=4).astype("float32").astype(tf.as_dtype(dtype).as_numpy_dtype)
    leaf = tf.Variable(start)
    twin = tf.Variable(tf.cast(start, wide))
    state = tx.setup(tx.MixedPrecision(tx.Adam(1e-4), dtype=wide), leaf)
    alone = tx.setup(tx.Adam(1e-4), twin)
    step = tf.function(lambda grad: tx.update(state, leaf, grad) and None, jit_compile=compiled)
    for _ in range(20):
        grad = tf.cast(rng.normal(size=4) / 1000, dtype)
        step(grad)
        tx.update(alone, twin, tf.cast(grad, wide))
        np.testing.assert_array_equal(leaf.numpy(), rounded(only_slots(state)["master"], dtype))
    assert {slot.dtype for slot in only_slots(state).values()} == {tf.as_dtype(wide)}
    np.testing.assert_allclose(only_slots(state)["master"], twin.numpy(), rtol=1e-5)
    np.testing.assert_allclose(
        only_slots(state)["adam/velocity"], only_slots(alone)["velocity"], rtol=1e-5
    )


@pytest.mark.parametrize("dtype", SMALL)
def test_small_steps_add_up(dtype: str) -> None:
    moved = []
    for rule in (tx.SGD(1e-4), tx.MixedPrecision(tx.SGD(1e-4))):
        leaf = tf.Variable(tf.ones([], dtype))
        state = tx.setup(rule, leaf)
        for _ in range(100):
            tx.update(state, leaf, tf.ones([], dtype))
        moved.append(float(1 - leaf.numpy().astype("float32")))
    assert moved[0] == 0.0
    assert moved[1] == pytest.approx(0.01, rel=0.2)


def test_a_leaf_that_was_written_since_is_where_the_copy_starts() -> None:
    leaf = tf.Variable(tf.ones([2], tf.float16))
    state = tx.setup(tx.MixedPrecision(tx.SGD(1e-5)), leaf)
    one = tf.ones([2], tf.float16)
    tx.update(state, leaf, one)
    leaf.assign([5.0, 1.0])
    tx.update(state, leaf, one)
    np.testing.assert_allclose(only_slots(state)["master"], [5 - 1e-5, 1 - 2e-5], rtol=1e-7)


def test_a_float32_leaf_needs_no_copy() -> None:
    model = {"wide": tf.Variable(1.0), "small": tf.Variable(tf.ones([], tf.float16))}
    state = tx.setup(tx.MixedPrecision(tx.Adam(0.1)), model)
    assert list(state["wide"].slots) == ["adam/momentum", "adam/velocity"]
    assert list(state["small"].slots) == ["master", "adam/momentum", "adam/velocity"]
    alone = tx.setup(tx.Adam(0.1), model["wide"])
    tx.update(state, model, {"wide": tf.constant(1.0), "small": tf.ones([], tf.float16)})
    moved = model["wide"].numpy()
    model["wide"].assign(1.0)
    tx.update(alone, model["wide"], tf.constant(1.0))
    assert model["wide"].numpy() == moved


def test_it_wraps_whole_chains_and_all_their_rules_see_the_copy() -> None:
    leaf = tf.Variable(tf.ones([2], tf.float16))
    small = tf.fill([2], tf.constant(6e-5, tf.float16))
    chain = tx.Chain(tx.AccumulateGrads(2), tx.ClipByGlobalNorm(1e-6), tx.SGD(1.0), tx.EMA(0.5))
    state = tx.setup(tx.MixedPrecision(chain), leaf)
    for _ in range(2):
        tx.update(state, leaf, small)
    slots = only_slots(state)
    # A global norm of squares of 6e-5 would be zero in float16.
    np.testing.assert_allclose(slots["master"], [1 - 1e-6 / 2**0.5] * 2, rtol=1e-7)
    np.testing.assert_array_equal(slots["chain/ema/average"], slots["master"])
    assert tx.ema_params(state, leaf).dtype == tf.float16


def test_it_is_refused_inside_a_chain() -> None:
    mixed = tx.MixedPrecision(tx.Adam())
    for parts in ([tx.ClipByNorm(1.0), mixed], [mixed], [tx.Partition({"**": mixed})]):
        with pytest.raises(TypeError, match=r"Write tx.MixedPrecision\(tx.Chain\(...\)\)"):
            tx.Chain(*parts)
    tx.Partition({"a": mixed, "**": tx.SGD()})
    with pytest.raises(TypeError, match="must be a tfexplicit rule"):
        tx.MixedPrecision(tf.keras.optimizers.Adam())
    with pytest.raises(ValueError, match='must be "float32" or "float64"'):
        tx.MixedPrecision(tx.Adam(), dtype="float16")


def test_adjust_reaches_the_rule_inside() -> None:
    leaf = tf.Variable(tf.ones([], tf.float16))
    state = tx.setup(tx.MixedPrecision(tx.SGD(1.0)), leaf)
    tx.adjust(state, learning_rate=0.25)
    tx.update(state, leaf, tf.ones([], tf.float16))
    assert leaf.numpy() == 0.75
