"""Issues 18 to 26 that implicit state gave its users: schedules, scales, odd variables, values."""

from __future__ import annotations

import warnings
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from scipy.optimize import minimize

import tfexplicit as tx


def test_issue_18_a_learning_rate_is_set_although_there_was_a_schedule() -> None:
    """tensorflow#36612, #51399: ReduceLROnPlateau, or setting the rate, fails on a schedule."""
    leaf = tf.Variable([0.0])
    schedule = keras.optimizers.schedules.PiecewiseConstantDecay([0], [0.5, 0.25])
    state = tx.setup(tx.SGD(schedule), [leaf])
    step = tf.function(lambda: tx.update(state, [leaf], [tf.ones([1])]) and None)
    moved = []
    for rate in (None, None, 0.125):
        if rate is not None:
            tx.adjust(state, learning_rate=rate)
        before = float(leaf[0])
        step()
        moved.append(before - float(leaf[0]))
    assert moved == [0.5, 0.25, 0.125]
    assert step.experimental_get_tracing_count() == 1

    model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
    optimizer = tx.KerasOptimizer(tx.SGD(schedule))
    model.compile(optimizer, "mse")
    plateau = keras.callbacks.ReduceLROnPlateau(monitor="loss", factor=0.5, patience=0, min_delta=9)
    data = np.ones((4, 1)), np.ones((4, 1))
    model.fit(*data, epochs=2, batch_size=4, verbose=0, callbacks=[plateau])
    assert float(optimizer.learning_rate) == 0.125


def test_issue_19_a_loss_scale_falls_below_one_and_recovers() -> None:
    """tf-keras#644, tensorflow#38357, keras#16552: gradients overflow at 1 too, and then NaN."""
    leaf = tf.Variable([0.0], dtype=tf.float32)
    rule = tx.Chain(tx.LossScale(initial_scale=2.0, dynamic_growth_steps=1), tx.SGD(1.0))
    state = tx.setup(rule, [leaf])
    scales = []
    for _ in range(5):
        scale = float(tx.scale_loss(state, tf.constant(1.0)))
        scales.append(scale)
        # A gradient of 100000 is more than float16 holds, unless it is scaled down.
        grad = tf.cast(tf.cast([100000.0 * scale], tf.float16), tf.float32)
        tx.update(state, [leaf], [grad])
    assert scales == [2.0, 1.0, 0.5, 1.0, 0.5]
    np.testing.assert_allclose(leaf, [-200000.0], rtol=1e-3)


def test_issue_20_a_plain_variable_needs_no_keras_attribute() -> None:
    """keras#18883, #21793, #21924, logictensornetworks#33: tf.Variable has no `path`, no ..."""

    class Duck:
        def __init__(self) -> None:
            self.trainable_variables = [tf.Variable([1.0]), keras.Variable([1.0])]

    duck = Duck()
    state = tx.setup(tx.AdamW(0.1), duck)
    assert not hasattr(duck.trainable_variables[0], "overwrite_with_gradient")
    tx.update(state, duck, [tf.ones([1]), tf.ones([1])])
    first, second = (float(np.asarray(leaf)[0]) for leaf in duck.trainable_variables)
    assert first == second == pytest.approx(0.8996, rel=1e-5)

    bounded = tf.Variable([0.05], constraint=tf.nn.relu)
    tx.update(tx.setup(tx.SGD(1.0), [bounded]), [bounded], [tf.ones([1])])
    assert float(bounded[0]) == 0.0


def test_issue_21_a_variable_whose_shape_is_known_in_part() -> None:
    """tf-keras#161: such variables are rejected."""
    leaf = tf.Variable(tf.ones([3, 2]), shape=[None, 2])
    state = tx.setup(tx.Adam(0.5), {"w": leaf})
    tf.function(lambda: tx.update(state, {"w": leaf}, [tf.ones([3, 2])]) and None)()
    assert state["w"].slots["momentum"].shape == (3, 2)
    np.testing.assert_allclose(leaf, np.full((3, 2), 0.5), rtol=1e-5)


def test_issue_22_no_gradient_is_no_flood_of_warnings_and_can_be_an_error() -> None:
    """tensorflow#42542, #47469, #34859, tf-keras#52: which variable has none, and why?"""
    model = {"used": tf.Variable([1.0]), "idle": {"w": tf.Variable([1.0])}}
    state = tx.setup(tx.Adam(0.1), model)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(3):
            tx.minimize(lambda model: tf.reduce_sum(model["used"] ** 2), state, model)
    assert model["idle"]["w"][0] == 1.0
    assert not np.any(state["idle/w"].slots["velocity"])
    with pytest.raises(ValueError, match="gradient is None at idle/w"):
        tx.update(state, model, [tf.ones([1]), None], strict=True)
    with pytest.raises(ValueError, match=r"every gradient is None.*inside the tape.*used, idle/w"):
        tx.update(state, model, [None, None])


def test_issue_23_an_average_is_state_and_is_read_as_values() -> None:
    """keras-core#437, keras#18949, PR#18972, addons#2107: averages wrong, or out of reach."""
    model = {"w": tf.Variable([1.0])}
    state = tx.setup(tx.Chain(tx.SGD(1.0), tx.EMA(0.5)), model)
    for grad in (1.0, 1.0, -2.0):
        tx.update(state, model, [tf.constant([grad])])
    # The leaf was 0, -1, 1.
    assert float(tx.ema_params(state, model)["w"][0]) == 0.5 * (0.5 * 0.0 - 0.5) + 0.5
    assert float(model["w"][0]) == 1.0
    tx.assign(model, tx.ema_params(state, model))
    assert float(model["w"][0]) == 0.25


def test_issue_24_lbfgs_needs_no_flattening_by_hand() -> None:
    """probability#565, #1204, GPflow#1604, tensorflow#48167, #29663: flatten, split, reshape."""
    rng = np.random.default_rng(0)
    x, y = tf.constant(rng.normal(size=(9, 2))), tf.constant(rng.normal(size=(9, 1)))
    model = {"kernel": tf.Variable(tf.zeros([2, 1], tf.float64)), "bias": tf.Variable([0.0])}
    flat, rebuild = tx.destructure(model)

    def loss(flat: Any) -> Any:
        model = rebuild(flat)
        residual = x @ model["kernel"] + tf.cast(model["bias"], tf.float64) - y
        return tf.reduce_mean(residual**2)

    def value_and_gradient(vector: Any) -> tuple[Any, Any]:
        value, grad = tx.value_and_grad(loss)(tf.constant(vector))
        return value.numpy(), grad.numpy()

    found = minimize(value_and_gradient, np.float64(flat), jac=True, method="L-BFGS-B")
    tx.assign(model, rebuild(tf.constant(found.x)))
    exact = np.linalg.lstsq(np.hstack([x, np.ones((9, 1))]), y, rcond=None)[0]
    np.testing.assert_allclose(model["kernel"], exact[:2], atol=1e-4)
    np.testing.assert_allclose(model["bias"], exact[2], atol=1e-4)


def test_issue_25_a_step_has_a_derivative() -> None:
    """tensorflow#55181: no gradient goes through `apply_gradients`, as MAML wants."""
    model = {"w": tf.Variable(3.0)}
    inner = tx.setup(tx.SGD(0.1), model)

    def after_a_step(model: Any) -> Any:
        grads = tx.grad(lambda model: model["w"] ** 2)(model)
        _, adapted = tx.updated(inner, model, grads)
        return (adapted["w"] - 1.0) ** 2

    # w becomes 0.8 w; the derivative of (0.8 w - 1)^2 is 1.6 (0.8 w - 1).
    assert float(tx.grad(after_a_step)(model)["w"]) == pytest.approx(1.6 * (0.8 * 3.0 - 1.0))
    assert float(model["w"]) == 3.0
    assert int(inner.step) == 0


def test_issue_26_momentum_is_reset_between_folds() -> None:
    """keras#454: the next fold begins with the moments of the last one."""
    model = {"w": tf.Variable([1.0, 2.0])}
    start = tx.params(model)
    state = tx.setup(tx.Adam(0.1), model)
    step = tf.function(lambda: tx.minimize(lambda m: tf.reduce_sum(m["w"] ** 4), state, model))
    folds = []
    for _ in range(3):
        tx.assign(model, start)
        tx.reset(state)
        for _ in range(3):
            step()
        folds.append(model["w"].numpy())
    np.testing.assert_array_equal(folds[1], folds[0])
    np.testing.assert_array_equal(folds[2], folds[0])
    assert int(state.step) == 3
    assert step.experimental_get_tracing_count() == 1
