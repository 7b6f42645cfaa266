"""Optimisers.jl's groups on gradients: forgotten, second-order, none, and those of `trainables`.

Where TensorFlow differs, the test says how.
"""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

import tfexplicit as tx


@pytest.mark.parametrize("verb", [tx.update, tx.updated])
def test_a_forgotten_gradient_is_an_error(verb: Any) -> None:
    model = {"w": tf.Variable([1.0])}
    state = tx.setup(tx.SGD(), model)
    with pytest.raises(TypeError, match="grads"):
        verb(state, model)
    with pytest.raises(ValueError, match="every gradient is None"):
        verb(state, model, {"w": None})
    with pytest.raises(ValueError, match=r"'w'|1 leaves"):
        verb(state, model, {})


@pytest.mark.parametrize("verb", [tx.update, tx.updated])
def test_second_order_gradients_are_no_argument_and_not_ignored(verb: Any) -> None:
    """Optimisers.jl hands further gradients to rules that use them. A rule here has one gradient,
    and a second positional one is an error rather than lost."""
    model, grads = {"w": tf.Variable([1.0])}, {"w": tf.constant([1.0])}
    with pytest.raises(TypeError, match="positional"):
        verb(tx.setup(tx.SGD(), model), model, grads, grads)


def test_second_order_information_reaches_a_rule_through_the_gradient() -> None:
    """Newton's step: what a rule for two gradients would make of them, made by the caller."""
    model = {"w": tf.Variable([3.0, -2.0])}
    gradient_of = tx.grad(lambda m: tf.reduce_sum(m["w"] ** 4))
    second = tx.grad(lambda m: tf.reduce_sum(gradient_of(m)["w"]))(model)["w"]
    newton = {"w": gradient_of(model)["w"] / second}
    tx.update(tx.setup(tx.SGD(1.0), model), model, newton)
    np.testing.assert_allclose(model["w"], [2.0, -4 / 3], rtol=1e-6)


def test_no_gradient_leaves_the_same_object() -> None:
    tensor, array, variable = tf.constant([1.0]), np.ones(1, "f4"), tf.Variable([1.0])
    model = {"t": tensor, "a": array, "v": variable, "moves": tf.constant([1.0])}
    grads = {"t": None, "a": None, "v": None, "moves": tf.constant([1.0])}
    _, new = tx.update(tx.setup(tx.Adam(), model), model, grads)
    assert new["t"] is tensor
    assert new["a"] is array
    assert new["v"] is variable
    _, pure = tx.updated(tx.setup(tx.Adam(), model), model, grads)
    assert pure["t"] is tensor


NESTED = {
    "a": tf.constant([1.0, 2.0]),
    "deep": [{"b": tf.constant([3.0])}, "text", (tf.constant([[4.0]]),)],
    "again": None,
}
NESTED["again"] = NESTED["a"]


def test_gradients_through_trainables_mirror_the_model() -> None:
    grads = tx.grad(lambda m: sum(tf.reduce_sum(leaf**2) for leaf in tx.trainables(m)))(NESTED)
    # A tied leaf is listed once, and both its places have the gradient.
    assert grads["a"].numpy().tolist() == grads["again"].numpy().tolist() == [2.0, 4.0]
    assert grads["deep"][0]["b"].numpy().tolist() == [6.0]
    assert grads["deep"][1] is None
    assert grads["deep"][2][0].numpy().tolist() == [[8.0]]


def test_gradients_through_trainables_with_paths() -> None:
    def only_b(model: Any) -> Any:
        return sum(
            tf.reduce_sum(leaf**2)
            for path, leaf in tx.trainables(model, path=True)
            if path.endswith("/b")
        )

    grads = tx.grad(only_b)(NESTED)
    assert grads["deep"][0]["b"].numpy().tolist() == [6.0]
    # Leaves that the function did not use have none.
    assert grads["a"] is None
    assert grads["deep"][2][0] is None


def test_gradients_through_the_entries_of_a_dict() -> None:
    """The second entry has one too; Optimisers.jl has none there (a known defect)."""
    model = {"first": tf.constant([1.0]), "second": tf.constant([2.0])}
    for place, name in enumerate(model):
        grads = tx.grad(lambda m, place=place: tf.reduce_sum(tx.trainables(m)[place] ** 2))(model)
        assert grads[name].numpy().tolist() == [2.0 * (place + 1)]


def test_second_derivatives_through_trainables() -> None:
    inner = tx.grad(lambda m: sum(tf.reduce_sum(leaf**3) for leaf in tx.trainables(m)))
    outer = tx.grad(lambda m: sum(tf.reduce_sum(leaf) for leaf in tx.trainables(inner(m))))
    assert outer({"w": tf.constant([1.0, 2.0])})["w"].numpy().tolist() == [6.0, 12.0]


@pytest.mark.parametrize("jit", [None, False, True], ids=["eager", "function", "jit"])
def test_a_penalty_over_the_trainables_of_a_keras_model(jit: bool | None) -> None:
    model = keras.Sequential([keras.layers.Input((2,)), keras.layers.Dense(2, name="d")])

    def penalised() -> Any:
        with tf.GradientTape() as tape:
            penalty = sum(tf.nn.l2_loss(leaf) for leaf in tx.trainables(model))
        by_tape = tape.gradient(penalty, tx.trainables(model))
        by_verb = tx.grad(lambda m: sum(tf.nn.l2_loss(leaf) for leaf in tx.trainables(m)))(model)
        return by_tape, by_verb["d"]

    run = penalised if jit is None else tf.function(penalised, jit_compile=jit)
    (kernel, bias), by_verb = run()
    np.testing.assert_allclose(kernel, model.layers[0].kernel)
    np.testing.assert_allclose(bias, model.layers[0].bias)
    np.testing.assert_allclose(by_verb["kernel"], model.layers[0].kernel)


def embedding_model() -> Any:
    keras.utils.set_random_seed(0)
    return keras.Sequential(
        [
            keras.layers.Input((3,), dtype="int32"),
            keras.layers.Embedding(5, 2, name="table"),
            keras.layers.Flatten(),
            keras.layers.Dense(1, name="out"),
        ]
    )


@pytest.mark.parametrize("in_function", [False, True], ids=["eager", "function"])
def test_a_sparse_gradient_from_value_and_grad_steps_as_the_dense_one(in_function: bool) -> None:
    ids = tf.constant([[0, 0, 3], [3, 0, 1]])
    sparse_model, dense_model = embedding_model(), embedding_model()
    rule = tx.Chain(tx.ClipByGlobalNorm(0.5), tx.Adam(0.1))
    states = tx.setup(rule, sparse_model), tx.setup(rule, dense_model)

    def squared(model: Any) -> Any:
        return tf.reduce_sum((model(ids) - 1.0) ** 2)

    def with_one_hot(model: Any) -> Any:
        """The same sum, whose gradient is dense."""
        rows = tf.one_hot(ids, 5) @ tf.convert_to_tensor(model.layers[0].embeddings)
        return tf.reduce_sum((model.layers[2](model.layers[1](rows)) - 1.0) ** 2)

    def step() -> None:
        _, grads = tx.value_and_grad(squared)(sparse_model)
        assert isinstance(grads["table"]["embeddings"], tf.IndexedSlices)
        tx.update(states[0], sparse_model, grads)
        _, grads = tx.value_and_grad(with_one_hot)(dense_model)
        assert isinstance(grads["table"]["embeddings"], tf.Tensor)
        tx.update(states[1], dense_model, grads)

    run = tf.function(step) if in_function else step
    for _ in range(4):
        run()
    for ours, theirs in zip(sparse_model.variables, dense_model.variables, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-6)


def test_a_sparse_gradient_goes_through_updated_and_has_a_derivative() -> None:
    """d sum(w - 0.1 * 3 n w^2) / dw, where a row is read n times."""
    table = tf.Variable(tf.ones([4, 2]))
    state = tx.setup(tx.SGD(0.1), {"t": table})

    def after_a_step(model: Any) -> Any:
        inner = tx.grad(lambda m: tf.reduce_sum(tf.gather(m["t"], [0, 0, 1]) ** 3))(model)
        assert isinstance(inner["t"], tf.IndexedSlices)
        return tf.reduce_sum(tx.updated(state, model, inner)[1]["t"])

    rows = tf.convert_to_tensor(tx.grad(after_a_step)({"t": table})["t"])
    np.testing.assert_allclose(rows[:, 0], [-0.2, 0.4, 1.0, 1.0], rtol=1e-5)


def test_aux_may_be_any_structure() -> None:
    def loss(model: Any, x: Any) -> Any:
        hidden = model["w"] * x
        return tf.reduce_sum(hidden**2), {"hidden": hidden, "names": ["a", "b"], "none": None}

    model = {"w": tf.constant([1.0, 2.0])}
    (value, aux), grads = tx.value_and_grad(loss, has_aux=True)(model, 2.0)
    assert (float(value), aux["names"], aux["none"]) == (20.0, ["a", "b"], None)
    assert aux["hidden"].numpy().tolist() == [2.0, 4.0]
    assert grads["w"].numpy().tolist() == [8.0, 16.0]

    traced = tf.function(lambda m: tx.grad(lambda m: loss(m, 2.0), has_aux=True)(m)[1]["hidden"])
    assert traced(model).numpy().tolist() == [2.0, 4.0]


@pytest.mark.parametrize(
    ("returned", "has_aux", "message"),
    [
        (lambda w: (w, w), False, r"a tuple of 2.*has_aux=True"),
        (lambda w: w, True, r"a pair \(loss, aux\), got one EagerTensor"),
        (lambda w: (w, 1, 2), True, r"got a tuple of 3.*one structure"),
    ],
)
def test_what_the_function_returns_must_fit_has_aux(
    returned: Any, has_aux: bool, message: str
) -> None:
    with pytest.raises(TypeError, match=message):
        tx.grad(lambda m: returned(m["w"] ** 2), has_aux=has_aux)({"w": tf.constant(1.0)})
