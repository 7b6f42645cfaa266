"""What Keras computes wrongly, next to what the rule computes."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
import tf_keras

import tfexplicit as tx

GRADS = [[0.3, -1.0, 2.0], [-0.1, 0.5, 1.0], [0.7, 0.2, -3.0], [0.0, -0.4, 0.1]]
START = [1.0, -2.0, 0.5]


def by_keras(optimizer: Any, start: Any, grads: list[Any]) -> np.ndarray:
    leaf = tf.Variable(start)
    optimizer.build([leaf])
    for grad in grads:
        optimizer.apply_gradients([(tf.cast(grad, leaf.dtype), leaf)])
    return np.asarray(tf.cast(leaf, leaf.dtype if leaf.dtype.is_complex else tf.float32))


def by_rule(rule: tx.Rule, start: Any, grads: list[Any]) -> np.ndarray:
    leaf = tf.Variable(start)
    state = tx.setup(rule, [leaf])
    for grad in grads:
        tx.update(state, [leaf], [tf.cast(grad, leaf.dtype)])
    return np.asarray(tf.cast(leaf, leaf.dtype if leaf.dtype.is_complex else tf.float32))


def schedule_free(
    rate: float, aliased: bool, warmup: int = 0, decay: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """`(y, x)` after all steps, in NumPy. `aliased`: Keras reads z after it was assigned."""
    y, z, v, total = np.array(START), np.array(START), np.zeros(3), 0.0
    for t, grad in enumerate(np.array(GRADS), start=1):
        lr = rate * min(t / warmup, 1) if warmup else rate
        v = 0.999 * v + 0.001 * grad**2
        old = z
        z = z - lr * (grad / (np.sqrt(v / (1 - 0.999**t)) + 1e-8) + decay * y)
        x = (y - 0.1 * (z if aliased else old)) / 0.9
        total += lr**2
        x = x + (z - x) * (1 / t if aliased else lr**2 / total)
        y = 0.1 * z + 0.9 * x
    return y, x


def test_schedule_free_reads_the_iterate_of_before_the_step() -> None:
    ours = by_rule(tx.ScheduleFreeAdamW(0.1), START, GRADS)
    theirs = by_keras(keras.optimizers.ScheduleFreeAdamW(0.1), START, GRADS)
    np.testing.assert_allclose(ours, schedule_free(0.1, aliased=False)[0], rtol=1e-6)
    np.testing.assert_allclose(theirs, schedule_free(0.1, aliased=True)[0], rtol=1e-6)
    assert np.abs(ours - theirs).max() > 0.005


def test_schedule_free_warms_up_and_decays_as_in_the_paper() -> None:
    rule = tx.ScheduleFreeAdamW(0.1, warmup_steps=3, weight_decay=0.5)
    expected = schedule_free(0.1, aliased=False, warmup=3, decay=0.5)[0]
    np.testing.assert_allclose(by_rule(rule, START, GRADS), expected, rtol=1e-5)


def test_eval_params_gives_the_average() -> None:
    model: Any = {"free": tf.Variable(START), "other": tf.Variable([3.0])}
    rules = {"free": tx.Chain(tx.ClipByValue(9.0), tx.ScheduleFreeAdamW(0.1)), "other": tx.SGD(0.5)}
    state = tx.setup(rules, model)
    before = tx.eval_params(state, model)
    np.testing.assert_array_equal(before["free"], START)
    for grad in GRADS:
        tx.update(state, model, {"free": tf.constant(grad), "other": tf.constant([1.0])})
    y, x = schedule_free(0.1, aliased=False)
    found = tf.function(lambda: tx.eval_params(state, model))()
    np.testing.assert_allclose(found["free"], x, rtol=1e-6)
    np.testing.assert_allclose(model["free"], y, rtol=1e-6)
    assert float(found["other"][0]) == 1.0
    np.testing.assert_allclose(tx.eval_params(state["free"], model["free"]), x, rtol=1e-6)
    dense = keras.layers.Dense(1, name="dense")
    net = keras.Sequential([keras.layers.Input((2,)), dense])
    nested = tx.eval_params(tx.setup(tx.ScheduleFreeAdamW(), net), net)
    np.testing.assert_array_equal(nested["dense"]["kernel"], dense.kernel)


def test_eval_params_of_what_keeps_no_average_is_refused() -> None:
    leaf = tf.Variable([1.0])
    state = tx.setup(tx.ScheduleFreeAdamW(), [leaf])
    with pytest.raises(ValueError, match=r"no rule here keeps an average.*tx\.ScheduleFreeAdamW"):
        tx.eval_params(tx.setup(tx.Adam(), [leaf]), [leaf])
    with pytest.raises(ValueError, match="another variable"):
        tx.eval_params(state, [tf.Variable([1.0])])
    with pytest.raises(TypeError, match="swapped"):
        tx.eval_params([leaf], state)
    with pytest.raises(TypeError, match="expected the state"):
        tx.eval_params(tx.Adam(), [leaf])


def test_complex_muon_is_unitary() -> None:
    rng = np.random.default_rng(0)
    grad = (rng.normal(size=(3, 4)) + 1j * rng.normal(size=(3, 4))).astype("complex64")
    start = np.zeros((3, 4), "complex64")
    exact = {"ns_steps": 20, "muon_a": 2.0, "muon_b": -1.5, "muon_c": 0.5}
    rule = tx.Muon(1.0, weight_decay=0.0, rms_rate=None, **exact)
    step = -by_rule(rule, start, [grad])
    np.testing.assert_allclose(step @ step.conj().T, np.eye(3), atol=1e-4)


def test_complex_adam_of_keras_turns_the_step() -> None:
    theirs = by_keras(keras.optimizers.Adam(0.1), np.complex64(1 + 1j), [np.complex64(1 + 1j)])
    ours = by_rule(tx.Adam(0.1), np.complex64(1 + 1j), [np.complex64(1 + 1j)])
    np.testing.assert_allclose(theirs, 0.9 + 1.0j, atol=1e-5)
    np.testing.assert_allclose(ours, (1 + 1j) * (1 - 0.1 / np.sqrt(2)), atol=1e-5)


def test_float16_adam_of_keras_runs_away() -> None:
    grads = [[1e-4]] * 5
    start = np.array([0.0], "float16")
    theirs = by_keras(keras.optimizers.Adam(0.01), start, grads)
    ours = by_rule(tx.Adam(0.01), start, grads)
    np.testing.assert_allclose(ours, by_rule(tx.Adam(0.01), [0.0], grads), rtol=1e-3)
    np.testing.assert_allclose(ours, -0.05, rtol=0.03)
    assert theirs[0] < -1


def test_a_keras_optimizer_trains_half_precision_as_before() -> None:
    start, grads = np.array(START, "float16"), [np.array(grad) for grad in GRADS]
    leaf = tf.Variable(start)
    state = tx.setup(keras.optimizers.Adam(0.01), [leaf])
    for grad in grads:
        tx.update(state, [leaf], [tf.cast(grad, tf.float16)])
    theirs = by_keras(keras.optimizers.Adam(0.01), start, grads)
    np.testing.assert_array_equal(tf.cast(leaf, tf.float32), theirs)


def test_centered_rmsprop_of_keras_takes_the_root_of_a_negative_variance() -> None:
    arguments: dict[str, Any] = {"learning_rate": 1e-3, "rho": 0.5, "centered": True}
    grads = [[149.45139]] * 40
    assert np.isnan(by_keras(keras.optimizers.RMSprop(**arguments), [1.0], grads)).all()
    assert np.isfinite(by_rule(tx.RMSprop(**arguments), [1.0], grads)).all()


def test_adafactor_of_keras_limits_the_rate_without_relative_step_too() -> None:
    def moved(train: Any, optimizer: Any) -> float:
        steps = [train(optimizer(), [1.0], [[1.0]] * count)[0] for count in (9, 10)]
        return float((steps[0] - steps[1]) / steps[0])

    def keras_rule() -> Any:
        return keras.optimizers.Adafactor(0.5, relative_step=False)

    np.testing.assert_allclose(moved(by_keras, keras_rule), 1 / np.sqrt(10), rtol=1e-4)
    np.testing.assert_allclose(
        moved(by_rule, lambda: tx.Adafactor(0.5, relative_step=False)), 0.5, rtol=1e-4
    )
    np.testing.assert_allclose(
        moved(by_rule, lambda: tx.Adafactor(0.5)), 1 / np.sqrt(10), rtol=1e-4
    )


def test_ftrl_of_keras_divides_by_an_accumulator_of_zero() -> None:
    arguments: dict[str, Any] = {"learning_rate": 0.1, "initial_accumulator_value": 0.0}
    assert np.isnan(by_keras(keras.optimizers.Ftrl(**arguments), [1.0], [[0.0]])).all()
    np.testing.assert_array_equal(by_rule(tx.Ftrl(**arguments), [1.0], [[0.0]]), 0.0)


def test_nadam_of_tf_keras_multiplies_its_schedule_once_per_variable_in_a_graph() -> None:
    def trained(through_tx: bool, in_graph: bool) -> np.ndarray:
        leaves = [tf.Variable(START), tf.Variable(START)]
        optimizer = tf_keras.optimizers.Nadam(0.1)
        optimizer.build(leaves)
        state = tx.setup(tx.Nadam(0.1), leaves) if through_tx else None

        def step(grad: Any) -> None:
            if state is not None:
                tx.update(state, leaves, [grad, grad])
            else:
                optimizer.apply_gradients([(grad, leaf) for leaf in leaves])

        run = tf.function(step) if in_graph else step
        for grad in GRADS:
            run(tf.constant(grad))
        return leaves[1].numpy()

    eager = trained(through_tx=False, in_graph=False)
    assert np.abs(trained(through_tx=False, in_graph=True) - eager).max() > 1e-3
    np.testing.assert_allclose(trained(through_tx=True, in_graph=True), eager, rtol=1e-5)
