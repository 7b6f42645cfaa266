"""Derivatives through a step: MAML, Hessian-vector products, hyperparameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

import tfexplicit as tx

MODES: dict[str, Callable[..., Any]] = {
    "eager": lambda fn: fn,
    "function": tf.function,
    "jit": lambda fn: tf.function(fn, jit_compile=True),
}
RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(6, 3)).astype("f4"), RNG.normal(size=(6, 1)).astype("f4")
X_NEW, Y_NEW = RNG.normal(size=(5, 3)).astype("f4"), RNG.normal(size=(5, 1)).astype("f4")
START = RNG.normal(size=(3, 1)).astype("f4")
RATE = 0.1


def by_hand(steps: int) -> np.ndarray:
    """d outer / d start of least squares: each inner step has the Jacobian I - rate * Hessian."""
    w, jacobian = START.astype("f8"), np.eye(3)
    for _ in range(steps):
        jacobian = (np.eye(3) - RATE * 2 / 6 * X.T @ X) @ jacobian
        w = w - RATE * 2 / 6 * X.T @ (X @ w - Y)
    return np.asarray(jacobian.T @ (2 / 5 * X_NEW.T @ (X_NEW @ w - Y_NEW)))


def linear_model() -> Any:
    model = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(1, use_bias=False)])
    model.layers[0].kernel.assign(START)
    return model


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("steps", [1, 3])
def test_maml_of_a_keras_model(mode: str, steps: int) -> None:
    model = linear_model()
    opt_state = tx.setup(tx.SGD(RATE), model)

    def loss(weights: Any, x: Any, y: Any) -> Any:
        return tf.reduce_mean((tx.functional_call(model, weights, x)[0] - y) ** 2)

    def outer_loss(model: Any) -> Any:
        inner = tx.grad(lambda m: tf.reduce_mean((m(X) - Y) ** 2))(model)
        state, weights = tx.updated(opt_state, model, inner)
        for _ in range(steps - 1):
            state, weights = tx.updated(state, weights, tx.grad(loss)(weights, X, Y))
        return loss(weights, X_NEW, Y_NEW)

    grads = MODES[mode](lambda: tx.grad(outer_loss)(model)["dense"])()
    np.testing.assert_allclose(grads["kernel"], by_hand(steps), rtol=1e-4)
    np.testing.assert_array_equal(model.layers[0].kernel, START)
    assert int(opt_state.step) == 0


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("steps", [1, 3])
def test_maml_of_plain_values(mode: str, steps: int) -> None:
    def loss(weights: Any, x: Any, y: Any) -> Any:
        return tf.reduce_mean((x @ weights["w"] - y) ** 2)

    def outer_loss(weights: Any) -> Any:
        state = tx.setup(tx.SGD(RATE), weights)
        for _ in range(steps):
            state, weights = tx.updated(state, weights, tx.grad(loss)(weights, X, Y))
        return loss(weights, X_NEW, Y_NEW)

    grads = MODES[mode](tx.grad(outer_loss))({"w": tf.constant(START)})
    np.testing.assert_allclose(grads["w"], by_hand(steps), rtol=1e-4)


def test_maml_trains_a_model_in_place() -> None:
    """Outer step by `update` on the variables, inner steps by `updated` on values."""
    model = linear_model()
    inner_state, outer_state = tx.setup(tx.SGD(RATE), model), tx.setup(tx.SGD(0.1), model)

    def outer_loss(model: Any) -> Any:
        inner = tx.grad(lambda m: tf.reduce_mean((m(X) - Y) ** 2))(model)
        _, weights = tx.updated(inner_state, model, inner)
        outputs, _ = tx.functional_call(model, weights, X_NEW)
        return tf.reduce_mean((outputs - Y_NEW) ** 2)

    @tf.function
    def step() -> Any:
        return tx.minimize(outer_loss, outer_state, model)

    expected = START - 0.1 * by_hand(1)
    losses = [float(step())]
    np.testing.assert_allclose(model.layers[0].kernel, expected, rtol=1e-4)
    losses += [float(step()) for _ in range(5)]
    assert losses == sorted(losses, reverse=True)


@pytest.mark.parametrize("rule", [tx.Adam(0.1), tx.AdamW(0.1), tx.SGD(0.1, momentum=0.9)])
def test_the_derivative_of_a_step_is_its_difference_quotient(rule: tx.Rule) -> None:
    start = tf.constant([1.0, -2.0, 0.5], tf.float64)

    def after_three(w: Any) -> Any:
        model, state = {"w": w}, tx.setup(rule, {"w": w})
        for _ in range(3):
            grads = tx.grad(lambda m: tf.reduce_sum(tf.sin(m["w"]) * m["w"]))(model)
            state, model = tx.updated(state, model, grads)
        return tf.reduce_sum(model["w"] ** 2)

    ours = tx.grad(lambda m: after_three(m["w"]))({"w": start})["w"]
    for place in range(3):
        shift = 1e-6 * tf.one_hot(place, 3, dtype=tf.float64)
        quotient = (after_three(start + shift) - after_three(start - shift)) / 2e-6
        np.testing.assert_allclose(ours[place], quotient, rtol=1e-5)


# What the learning rate comes from, and the state that takes it from there.
RATES: dict[str, Callable[[Any, Any], Any]] = {
    "tensor": lambda rate, weights: tx.setup(tx.SGD(rate), weights),
    "function of the step": lambda rate, w: tx.setup(tx.SGD(lambda step: rate * 1.0), w),
    "adjusted": lambda rate, w: tx.adjusted(tx.setup(tx.SGD(0.5), w), learning_rate=rate),
    "in a chain": lambda rate, w: tx.setup(tx.Chain(tx.ClipByValue(99.0), tx.SGD(rate)), w),
}


def sum_after_two_steps(source: str, rate: Any, weights: Any) -> Any:
    state = RATES[source](rate, weights)
    for _ in range(2):
        grads = tx.grad(lambda m: tf.reduce_sum(m["w"] ** 2))(weights)
        state, weights = tx.updated(state, weights, grads)
    return tf.reduce_sum(weights["w"])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("source", RATES)
def test_the_derivative_in_the_learning_rate(mode: str, source: str) -> None:
    """d/dr of 3 (1 - 2 r)^2 at r = 0.1."""
    grad = tx.grad(lambda rate, weights: sum_after_two_steps(source, rate, weights))
    weights = {"w": tf.constant([1.0, 2.0])}
    assert float(MODES[mode](grad)(tf.constant(0.1), weights)) == pytest.approx(-9.6, rel=1e-5)


def test_a_learning_rate_that_is_a_variable_can_be_learned() -> None:
    rate = tf.Variable(0.1)
    weights = {"w": tf.constant([1.0, 2.0])}
    state = tx.setup(tx.SGD(0.01), rate)
    for _ in range(3):
        with tf.GradientTape() as tape:
            loss = sum_after_two_steps("tensor", rate, weights) ** 2
        tx.update(state, rate, tape.gradient(loss, rate))
    assert 0.1 < rate.numpy() < 0.5
    assert float(loss) < 3.0


def cubes(model: Any) -> Any:
    return tf.reduce_sum(model["w"] ** 3) * model["w"][1]


# Of f = (a^3 + b^3) b at (1, 2): [[6ab, 3a^2], [3a^2, 12 b^2]].
HESSIAN = np.array([[12.0, 3.0], [3.0, 48.0]])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("vector", [[1.0, 0.0], [-0.5, 2.0]])
@pytest.mark.parametrize("make", [tf.constant, tf.Variable], ids=["tensor", "variable"])
def test_hessian_vector_products(make: Any, vector: list[float], mode: str) -> None:
    w, v = make([1.0, 2.0]), tf.constant(vector)

    def forward_over_reverse() -> Any:
        with tf.autodiff.ForwardAccumulator(w, v) as tangents:
            grads = tx.grad(cubes)({"w": w})
        return tangents.jvp(grads["w"])

    def reverse_over_reverse() -> Any:
        return tx.grad(lambda m: tf.reduce_sum(tx.grad(cubes)(m)["w"] * v))({"w": w})["w"]

    for product in (forward_over_reverse, reverse_over_reverse):
        np.testing.assert_allclose(MODES[mode](product)(), HESSIAN @ vector, rtol=1e-5)


def test_a_hessian_vector_product_of_a_keras_model_both_ways() -> None:
    keras.utils.set_random_seed(0)
    model = keras.Sequential(
        [
            keras.layers.Input((3,)),
            keras.layers.Dense(4, activation="tanh"),
            keras.layers.BatchNormalization(),
            keras.layers.Dense(1),
        ]
    )
    flat, rebuild = tx.destructure(model)
    v = tf.constant(RNG.normal(size=flat.shape), tf.float32)

    def loss(weights: Any) -> Any:
        outputs, _ = tx.functional_call(model, rebuild(weights), X, training=True)
        return tf.reduce_mean((outputs - Y) ** 2)

    with tf.autodiff.ForwardAccumulator(flat, v) as tangents:
        forward = tx.grad(loss)(flat)
    reverse = tx.grad(lambda w: tf.reduce_sum(tx.grad(loss)(w) * v))(flat)
    np.testing.assert_allclose(tangents.jvp(forward), reverse, rtol=1e-3, atol=1e-5)

    variables = [leaf.value for leaf in tx.trainables(model)]
    of_leaves = tx.trainables(rebuild(v))
    with tf.autodiff.ForwardAccumulator(variables, of_leaves) as tangents:
        grads = tx.grad(lambda m: tf.reduce_mean((m(X, training=True) - Y) ** 2))(model)
    np.testing.assert_allclose(
        tx.destructure(tangents.jvp(grads))[0], reverse, rtol=1e-3, atol=1e-5
    )
