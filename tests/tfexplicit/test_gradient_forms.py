"""Gradients in every accepted form, missing gradients, and what is refused."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

import tfexplicit as tx


def dense_model() -> Any:
    model = keras.Sequential([keras.layers.Input((2,)), keras.layers.Dense(3, name="dense")])
    for variable in model.trainable_variables:
        variable.assign(tf.ones(variable.shape))
    return model


K, B = tf.fill([2, 3], 0.5), tf.fill([3], 0.25)

FORMS: dict[str, Any] = {
    "flat list": [K, B],
    "tuple": (K, B),
    "by path": {"dense/kernel": K, "dense/bias": B},
    "nested": {"dense": {"kernel": K, "bias": B}},
    "numpy": [K.numpy(), B.numpy()],
    "other dtype": [tf.cast(K, tf.float64), tf.cast(B, tf.float16)],
    "integers": [tf.zeros([2, 3], tf.int32) + 1, tf.zeros([3], tf.int32)],
}


@pytest.mark.parametrize("form", FORMS)
def test_a_keras_model_takes_every_form(form: str) -> None:
    model = dense_model()
    tx.update(tx.setup(tx.SGD(1.0), model), model, FORMS[form])
    given = FORMS[form]
    first = given[0] if isinstance(given, list | tuple) else K
    np.testing.assert_array_equal(model.layers[0].kernel.numpy(), 1 - np.asarray(first, np.float32))
    assert model.layers[0].kernel.dtype == "float32"


def test_containers_of_models_take_lists_of_lists_and_flat_lists() -> None:
    for grads in ([K, B, K, B], ([K, B], [K, B]), [{"dense": {"kernel": K, "bias": B}}, [K, B]]):
        models = (dense_model(), dense_model())
        tx.update(tx.setup(tx.SGD(1.0), models), models, grads)
        for model in models:
            np.testing.assert_array_equal(model.layers[0].bias.numpy(), [0.75] * 3)


def test_value_and_grad_gives_a_form_that_update_takes() -> None:
    model = {"net": dense_model(), "scale": tf.Variable(2.0), "name": "x"}

    def loss(model: Any, x: Any) -> Any:
        return model["scale"] * tf.reduce_sum(model["net"](x))

    value, grads = tx.value_and_grad(loss)(model, tf.ones([1, 2]))
    assert float(value) == 18.0
    assert set(grads["net"]["dense"]) == {"kernel", "bias"}
    assert grads["name"] is None
    tx.update(tx.setup(tx.SGD(0.5), model), model, grads)
    assert float(model["scale"]) == 2.0 - 0.5 * 9.0


def test_sparse_gradients_with_repeated_rows_equal_the_dense_gradient() -> None:
    ids = [0, 0, 1]
    dense, sparse = (tf.Variable(tf.ones([3, 2])) for _ in range(2))
    states = [tx.setup(tx.Adam(0.1), table) for table in (dense, sparse)]
    for _ in range(3):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.gather(sparse, ids) ** 2)
        grad = tape.gradient(loss, sparse)
        assert isinstance(grad, tf.IndexedSlices)
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.one_hot(ids, 3) @ dense * (tf.one_hot(ids, 3) @ dense))
        tx.update(states[0], dense, tape.gradient(loss, dense))
        tx.update(states[1], sparse, grad)
    np.testing.assert_allclose(sparse, dense, rtol=1e-6)


def test_no_gradient_leaves_the_leaf_and_its_slots() -> None:
    model = dense_model()
    state = tx.setup(tx.Adam(0.1), model)
    tx.update(state, model, [K, B])
    slots = {name: slot.numpy() for name, slot in state["dense/bias"].slots.items()}
    bias = model.layers[0].bias.numpy()
    tx.update(state, model, [K, None])
    np.testing.assert_array_equal(model.layers[0].bias.numpy(), bias)
    for name, slot in state["dense/bias"].slots.items():
        np.testing.assert_array_equal(slot, slots[name])
    with pytest.raises(ValueError, match=r"strict=True.*dense/bias"):
        tx.update(state, model, [K, None], strict=True)
    with pytest.raises(ValueError, match="every gradient is None"):
        tx.update(state, model, [None, None])


def test_a_missing_gradient_counts_globally_as_in_keras_and_not_per_leaf() -> None:
    first_step, second = [], tf.constant(1.0)
    for steps in ("global", "leaf"):
        w, b = tf.Variable(0.0), tf.Variable(0.0)
        state = tx.setup(tx.Adam(0.1), [w, b], steps=steps)
        tx.update(state, [w, b], [second, None])
        tx.update(state, [w, b], [second, second])
        first_step.append(-float(b))
    np.testing.assert_allclose(first_step[1], 0.1, rtol=1e-4)
    expected = 0.1 * np.sqrt(1 - 0.999**2) / (1 - 0.9**2) * 0.1 / np.sqrt(0.001)
    np.testing.assert_allclose(first_step[0], expected, rtol=1e-4)


REFUSED: dict[str, tuple[Any, type[Exception], str]] = {
    "one short": ([K], ValueError, r"2 leaves, got 1.*dense/bias"),
    "one too many": ([K, B, B], ValueError, "2 leaves, got 3"),
    "wrong order": ([B, K], ValueError, r"dense/kernel.*\(3,\).*\(2, 3\)"),
    "wrong key": ({"dense/kernel": K, "dense/bais": B}, ValueError, "'dense/bais'.*'dense/bias'"),
    "key missing": ({"dense/kernel": K}, ValueError, "no gradient for 'dense/bias'"),
    "nested wrong key": ({"dense": {"kernel": K, "b": B}}, ValueError, "'dense/b'"),
    "no gradient": ([K, "text"], TypeError, "list in the order of tx.trainables|must be a tensor"),
    "complex": ([tf.cast(K, tf.complex64), B], TypeError, "complex64.*float32"),
    "a function": (lambda: None, TypeError, "list in the order of tx.trainables"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_gradients_that_do_not_fit_are_refused(case: str) -> None:
    grads, error, message = REFUSED[case]
    model = dense_model()
    with pytest.raises(error, match=message):
        tx.update(tx.setup(tx.SGD(1.0), model), model, grads)
    np.testing.assert_array_equal(model.layers[0].bias.numpy(), [1.0] * 3)


@pytest.mark.parametrize(
    "pairs",
    [
        zip,
        lambda a, b: list(zip(a, b, strict=True)),
        lambda a, b: [list(pair) for pair in zip(a, b, strict=True)],
    ],
)
def test_zipped_pairs_are_refused_with_the_line_to_write(pairs: Any) -> None:
    model = dense_model()
    state = tx.setup(tx.SGD(1.0), model)
    with pytest.raises(TypeError, match=r"pairs.*tx\.update\(opt_state, model, grads\)"):
        tx.update(state, model, pairs([K, B], model.trainable_variables))


def test_variables_that_add_up_gradients_are_no_pairs() -> None:
    layers = [(tf.Variable(1.0), tf.Variable(2.0)), (tf.Variable(3.0), tf.Variable(4.0))]
    sums = [(tf.Variable(1.0), tf.Variable(1.0)), (tf.Variable(1.0), tf.Variable(1.0))]
    tx.update(tx.setup(tx.SGD(1.0), layers), layers, sums)
    assert [float(v) for v in tx.trainables(layers)] == [0.0, 1.0, 2.0, 3.0]


def test_another_number_of_rows_does_not_compile_an_eager_step_again() -> None:
    table = tf.Variable(tf.zeros([10, 2]))
    state = tx.setup(tx.SGD(1.0), [table])
    for rows in range(1, 8):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.gather(table, tf.range(rows)))
        tx.update(state, [table], tape.gradient(loss, [table]))
    (compiled,) = state.plan.compiled.values()
    assert compiled.experimental_get_tracing_count() == 2
    np.testing.assert_array_equal(table[:, 0], [-7, -6, -5, -4, -3, -2, -1, 0, 0, 0])
