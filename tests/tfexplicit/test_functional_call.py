"""`functional_call`: a Keras model with given values, nothing of it changed."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
import tf_keras

import tfexplicit as tx

X = tf.constant(np.random.default_rng(0).normal(size=(8, 3)), tf.float32)


def network() -> Any:
    keras.utils.set_random_seed(0)
    return keras.Sequential(
        [
            keras.layers.Input((3,)),
            keras.layers.Dense(4, activation="tanh", name="first"),
            keras.layers.BatchNormalization(name="norm", momentum=0.5),
            keras.layers.Dropout(0.5, seed=1, name="drop"),
            keras.layers.Dense(1, name="second"),
        ]
    )


class TwoHeads(keras.Model):
    def __init__(self) -> None:
        super().__init__()
        self.heads = {"a": keras.layers.Dense(1), "b": keras.layers.Dense(1)}
        self.lstm = keras.layers.LSTM(2, recurrent_dropout=0.2, seed=3)

    def call(self, x: Any, training: bool = False) -> Any:
        hidden = self.lstm(x[:, None, :], training=training)
        return {name: head(hidden) for name, head in self.heads.items()}


def two_heads() -> Any:
    model = TwoHeads()
    model(X)
    return model


def mixed_precision() -> Any:
    policy = keras.DTypePolicy("mixed_float16")
    return keras.Sequential(
        [keras.layers.Input((3,)), keras.layers.Dense(2, dtype=policy, name="half")]
    )


def flat(nested: Any) -> list[np.ndarray]:
    return [np.asarray(value) for value in tf.nest.flatten(nested)]


def assert_same(ours: Any, theirs: Any) -> None:
    for a, b in zip(flat(ours), flat(theirs), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-7)


MODES = {
    "eager": lambda fn: fn,
    "function": tf.function,
    "jit": lambda fn: tf.function(fn, jit_compile=True),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("make", [network, two_heads, mixed_precision])
def test_it_is_the_call_of_a_model_that_has_these_values(make: Any, mode: str) -> None:
    model, other = make(), make()
    for variable in tx.trainables(other):
        variable.assign(variable * 0.5 + 0.1)
    values, before = tx.params(other), tx.params(model)

    run = MODES[mode](lambda values, x: tx.functional_call(model, values, x, training=True))
    outputs, updates = run(values, X)
    assert_same(tx.params(model), before)

    # In the same mode, since XLA draws other random numbers from the same seed.
    assert_same(outputs, MODES[mode](lambda x: other(x, training=True))(X))
    assert_same(updates, tx.params(other, trainable=False))


def test_the_updates_are_those_of_the_call() -> None:
    model = network()
    _, updates = tx.functional_call(model, tx.params(model), X, training=True)
    assert sorted(updates) == ["drop", "norm"]
    hidden = model.get_layer("first")(X)
    np.testing.assert_allclose(
        updates["norm"]["moving_mean"], 0.5 * tf.reduce_mean(hidden, 0), rtol=1e-5, atol=1e-7
    )
    assert updates["drop"]["seed_generator_state"].numpy().tolist() == [1, 1]
    _, at_rest = tx.functional_call(model, tx.params(model), X, training=False)
    assert_same(at_rest, tx.params(model, trainable=False))


@pytest.mark.parametrize("mode", MODES)
def test_a_loop_of_values_alone_trains_as_the_model_does(mode: str) -> None:
    """Statistics and seeds handed on from call to call are those that a model keeps itself."""
    model, other = network(), network()
    y = tf.reduce_sum(X, 1, keepdims=True)
    rule = tx.Adam(0.05)

    other_state = tx.setup(rule, other)
    step = MODES[mode](
        lambda: tx.minimize(
            lambda m: tf.reduce_mean((m(X, training=True) - y) ** 2), other_state, other
        )
    )
    for _ in range(4):
        step()

    def loss(weights: Any, rest: Any) -> Any:
        outputs, rest = tx.functional_call(model, (weights, rest), X, training=True)
        return tf.reduce_mean((outputs - y) ** 2), rest

    def trained(weights: Any, rest: Any) -> Any:
        state = tx.setup(rule, weights)
        for _ in range(4):
            grads, rest = tx.grad(loss, has_aux=True)(weights, rest)
            state, weights = tx.updated(state, weights, grads)
        return weights, rest

    weights, rest = tx.params(model, trainable=True), tx.params(model, trainable=False)
    before = tx.params(model)
    weights, rest = MODES[mode](trained)(weights, rest)
    assert_same(tx.params(model), before)
    tx.assign(model, (weights, rest))
    for a, b in zip(model.variables, other.variables, strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-4, atol=1e-5)


def test_what_is_not_given_is_the_model_s_own() -> None:
    model = network()
    expected = tx.functional_call(model, tx.params(model), X, training=True)
    for trainable in (True, False):
        values = tx.params(model, trainable=trainable)
        assert_same(tx.functional_call(model, values, X, training=True), expected)


@pytest.mark.parametrize("mode", MODES)
def test_gradients_reach_the_values(mode: str) -> None:
    model = network()
    values = tx.params(model, trainable=True)

    def loss(values: Any) -> Any:
        return tf.reduce_sum(tx.functional_call(model, values, X)[0] ** 2)

    ours = MODES[mode](tx.grad(loss))(values)
    theirs = tx.grad(lambda m: tf.reduce_sum(m(X) ** 2))(model)
    assert_same(ours, theirs)


def test_a_layer_and_a_shared_layer() -> None:
    layer = keras.layers.Dense(2)
    layer.build((None, 3))
    doubled = {"kernel": layer.kernel * 2.0, "bias": layer.bias * 2.0}
    np.testing.assert_allclose(tx.functional_call(layer, doubled, X)[0], 2.0 * layer(X), rtol=1e-6)
    inputs = keras.Input((3,))
    square = keras.layers.Dense(3, use_bias=False, name="square")
    model = keras.Model(inputs, square(square(inputs)))
    outputs, updates = tx.functional_call(model, {"square": {"kernel": 2.0 * tf.eye(3)}}, X)
    np.testing.assert_allclose(outputs, 4.0 * X, rtol=1e-6)
    assert updates == {}


class Watched(keras.layers.Layer):
    """Changes what is not among its variables, too."""

    def __init__(self) -> None:
        super().__init__()
        self.mean = keras.metrics.Mean()
        self.calls = self.add_weight(shape=(), dtype="int32", trainable=False, name="calls")

    def call(self, x: Any) -> Any:
        self.mean.update_state(x)
        self.calls.assign_add(1)
        return x + keras.random.normal(tf.shape(x))


def test_metrics_and_the_shared_seed_stay_as_they_were() -> None:
    layer = Watched()
    layer.build(X.shape)
    outputs, updates = tx.functional_call(layer, tx.params(layer), X)
    again, _ = tx.functional_call(layer, tx.params(layer), X)
    np.testing.assert_array_equal(outputs, again)
    assert {path: int(value) for path, value in updates.items()} == {"calls": 1}
    assert float(layer.mean.result()) == 0.0
    assert int(layer.calls) == 0


class Linear(tf.Module):
    def __init__(self) -> None:
        super().__init__()
        self.w = tf.Variable([1.0])

    def __call__(self, x: Any) -> Any:
        return x * self.w


def test_what_cannot_be_called_this_way_is_refused() -> None:
    with pytest.raises(TypeError, match=r"'w' of the Linear is a tf\.Variable.*import keras"):
        tx.functional_call(Linear(), {"w": tf.constant([2.0])}, X)
    old = tf_keras.Sequential([tf_keras.layers.Input((3,)), tf_keras.layers.Dense(1, name="d")])
    with pytest.raises(TypeError, match=r"'d/kernel' of the Sequential is a tf\.Variable"):
        tx.functional_call(old, tx.params(old), X)
    with pytest.raises(TypeError, match=r"got dict.*functional_call\(model\[\"encoder\"\]"):
        tx.functional_call({"net": network()}, {}, X)
    with pytest.raises(TypeError, match="expected a Keras model, got function"):
        tx.functional_call(lambda x: x, {}, X)
    with pytest.raises(ValueError, match=r"the Sequential is not built"):
        tx.functional_call(keras.Sequential([keras.layers.Dense(1)]), {}, X)
    with pytest.raises(ValueError, match=r"functional_call: the model has no 'fist'"):
        tx.functional_call(network(), {"fist": X}, X)
    with pytest.raises(TypeError, match=r"functional_call: the values must be a nested dict"):
        tx.functional_call(network(), X, X)
