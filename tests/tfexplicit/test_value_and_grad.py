"""`value_and_grad` and `grad`: gradients arranged like the model."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
import tensorflow as tf

import tfexplicit as tx


class Pair(NamedTuple):
    w: Any
    note: str


def square(model: Any, factor: float = 1.0) -> Any:
    return factor * sum(tf.reduce_sum(leaf**2) for leaf in tx.trainables(model))


def test_containers_keep_their_type_and_what_is_not_trained_is_none() -> None:
    model = {
        "pair": Pair(tf.Variable(3.0), "text"),
        "list": [tf.constant(2.0), np.ones(1, np.float32)],
        "n": 1,
    }
    value, grads = tx.value_and_grad(square)(model, factor=0.5)
    assert float(value) == 7.0
    assert isinstance(grads["pair"], Pair)
    assert (float(grads["pair"].w), grads["pair"].note) == (3.0, None)
    assert [grad.numpy().tolist() for grad in grads["list"]] == [2.0, [1.0]]
    assert grads["n"] is None


def test_has_aux_gives_the_rest_along() -> None:
    def with_aux(model: Any) -> Any:
        return model["w"] ** 2, "aux"

    model = {"w": tf.constant(3.0)}
    (loss, aux), grads = tx.value_and_grad(with_aux, has_aux=True)(model)
    assert (float(loss), aux, float(grads["w"])) == (9.0, "aux", 6.0)
    grads, aux = tx.grad(with_aux, has_aux=True)(model)
    assert (aux, float(grads["w"])) == ("aux", 6.0)


def test_a_leaf_that_the_loss_does_not_use_has_none() -> None:
    model = {"used": tf.constant(1.0), "unused": tf.Variable(1.0)}
    assert tx.grad(lambda m: m["used"] * 2.0)(model)["unused"] is None


def test_gradients_of_gradients() -> None:
    cube = tx.grad(lambda m: m["w"] ** 3)
    second = tx.grad(lambda m: cube(m)["w"])
    assert float(second({"w": tf.constant(2.0)})["w"]) == 12.0


def test_the_function_may_use_autograph() -> None:
    def loss(model: Any) -> Any:
        if model["w"] > 0:
            return model["w"] * 2.0
        return model["w"] * 3.0

    compiled = tf.function(tx.grad(loss))
    assert float(compiled({"w": tf.constant(1.0)})["w"]) == 2.0
    assert float(compiled({"w": tf.constant(-1.0)})["w"]) == 3.0


def test_minimize_steps_and_gives_the_loss_before() -> None:
    model = [tf.Variable(3.0)]
    state = tx.setup(tx.SGD(0.25), model)
    assert float(tx.minimize(square, state, model)) == 9.0
    np.testing.assert_allclose(model[0], 1.5)


def test_a_penalty_over_trainables_has_a_gradient() -> None:
    variable = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        loss = sum(leaf**2 for leaf in tx.trainables({"a": variable}))
    assert float(tape.gradient(loss, variable)) == 6.0


@pytest.mark.parametrize("verb", [tx.update, tx.updated])
def test_a_step_inside_a_tape_does_not_disturb_it(verb: Any) -> None:
    variable = tf.Variable(3.0)
    state = tx.setup(tx.SGD(0.0), [variable])
    with tf.GradientTape() as tape:
        loss = variable**2
        verb(state, [variable], [tf.constant(1.0)])
    assert float(tape.gradient(loss, variable)) == 6.0
