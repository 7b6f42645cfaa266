"""What Optimisers.jl tests of trees, by its groups: C dicts, E fields, K ties, N and O leaves."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import tfexplicit as tx


def tensor(*values: float) -> Any:
    return tf.constant(values, tf.float64)


def squares(model: Any) -> Any:
    return tf.add_n([tf.reduce_sum(leaf * leaf) for leaf in tx.trainables(model)])


# C: dict models.


@pytest.mark.parametrize("keys", [("a", "b"), (1, 2)], ids=["str", "int"])
def test_c_dicts_keep_their_types_and_what_is_no_number(keys: Any) -> None:
    one, two = keys
    model = {
        one: {one: tensor(1.0, 2.0), two: "text"},
        two: [abs, tensor(3.0), {two: 7, one: np.arange(2)}],
    }
    grads = {one: {one: tensor(5.0, -5.0), two: None}, two: [None, tensor(0.5), None]}
    state = tx.setup(tx.AdamW(0.1, weight_decay=0.0, epsilon=1e-12), model)
    assert state.paths == [f"{one}/{one}", f"{two}/1"]
    _, new = tx.update(state, model, grads)
    # The first step of Adam is the learning rate, whatever the gradient.
    np.testing.assert_allclose(new[one][one], [0.9, 2.1], rtol=1e-5)
    np.testing.assert_allclose(new[two][1], [2.9], rtol=1e-5)
    assert new[one][two] == "text"
    assert new[two][0] is abs
    assert new[two][2] is model[two][2]
    assert list(new) == [one, two]
    np.testing.assert_array_equal(model[one][one], [1.0, 2.0])


# E: a trainable subset of the fields.


@tx.trainable_fields("y", "x")
@dataclasses.dataclass
class Foo:
    x: Any
    y: Any


@tx.trainable_fields("a")
class TwoThirds:
    """Plain, with two children of three attributes, of which one is trained."""

    def __init__(self, a: Any, b: Any, c: Any) -> None:
        self.a, self.b, self.c = a, b, c


tx.register_node(
    TwoThirds,
    lambda value: {"a": value.a, "c": value.c},
    lambda value, new: TwoThirds(new["a"], value.b, new["c"]),
)


def test_e_the_order_of_a_declaration_is_no_order_of_leaves() -> None:
    model = Foo(tensor(1.0, 2.0), tensor(3.0, 4.0))
    state = tx.setup(tx.SGD(0.1, momentum=0.9), model)
    assert state.paths == ["x", "y"]
    _, new = tx.update(state, model, tx.grad(squares)(model))
    np.testing.assert_allclose(new.x, [0.8, 1.6], rtol=1e-12)
    np.testing.assert_allclose(new.y, [2.4, 3.2], rtol=1e-12)


def test_e_only_the_trained_field_moves() -> None:
    model = TwoThirds(tensor(1.0, 2.0), tensor(3.0), tensor(4.0))
    assert tx.setup(tx.SGD(), model).paths == ["a"]

    def loss(model: Any) -> Any:
        return tf.add_n([tf.reduce_sum(x**2) for x in (model.a, model.b, model.c)])

    grads = tx.grad(loss)(model)
    assert grads["c"] is None
    _, new = tx.update(tx.setup(tx.SGD(0.1, momentum=0.9), model), model, grads)
    assert type(new) is TwoThirds
    np.testing.assert_allclose(new.a, [0.8, 1.6], rtol=1e-12)
    assert new.b is model.b
    assert new.c is model.c


def test_e_branches_without_a_gradient_come_back_as_they_were() -> None:
    model = {
        "foo": Foo(tensor(1.0), {"deep": tensor(2.0)}),
        "pair": (TwoThirds(tensor(1.0), None, None), tensor(3.0)),
    }
    state = tx.setup(tx.SGD(0.1), model)
    _, new = tx.update(state, model, {"foo": {"x": None, "y": {"deep": tensor(1.0)}}, "pair": None})
    np.testing.assert_allclose(new["foo"].y["deep"], [1.9])
    assert type(new["foo"]) is Foo
    assert new["foo"].x is model["foo"].x
    assert new["pair"] is model["pair"]


# K: tied leaves.


def test_k_partial_gradients_are_summed_and_whole_ones_are_not() -> None:
    array = tensor(1.0)
    model = (array, {"again": array}, tensor(2.0))
    partial = (tensor(3.0), {"again": tensor(7.0)}, None)
    _, new = tx.update(tx.setup(tx.SGD(0.1), model, tied="sum"), model, partial)
    np.testing.assert_allclose(new[0], [0.0], atol=1e-12)
    assert new[0] is new[1]["again"]
    with tf.GradientTape() as tape:
        tape.watch(array)
        loss = tf.reduce_sum(3 * model[0] + 7 * model[1]["again"])
    whole = tape.gradient(loss, [model[0], model[1]["again"]])
    grads = (whole[0], {"again": whole[1]}, None)
    _, new = tx.update(tx.setup(tx.SGD(0.1), model), model, grads)
    np.testing.assert_allclose(new[0], [0.0], atol=1e-12)
    assert new[0] is new[1]["again"]
    assert new[2] is model[2]


@pytest.mark.parametrize("tied", ["total", "sum"])
def test_k_one_copy_without_a_gradient(tied: Any) -> None:
    variable = tf.Variable([1.0])
    model = [variable, (variable,), variable]
    state = tx.setup(tx.SGD(0.1, momentum=0.9), model, tied=tied)
    assert state.paths == ["0"]
    tx.update(state, model, [None, (tf.constant([5.0]),), None])
    np.testing.assert_allclose(variable, [0.5])
    np.testing.assert_allclose(state["0"].slots["momentum"], [-0.5])


def test_k_the_same_gradient_thrice_is_a_part_three_times_with_sum() -> None:
    part = tf.constant([1.0])
    for tied, expected in (("total", 0.9), ("sum", 0.7)):
        variable = tf.Variable([1.0])
        model = {"x": variable, "y": {"z": variable}, "w": (variable,)}
        state = tx.setup(tx.SGD(0.1), model, tied=tied)  # type: ignore[arg-type]
        tx.update(state, model, {"x": part, "y": {"z": part}, "w": (part,)})
        np.testing.assert_allclose(variable, [expected], rtol=1e-6)


@pytest.mark.parametrize("in_function", [False, True])
def test_k_whole_gradients_that_are_equal_are_one_and_others_are_refused(in_function: bool) -> None:
    variable = tf.Variable([1.0, np.nan])
    model = {"x": variable, "y": (variable,)}
    state = tx.setup(tx.SGD(0.1), model)

    def step(at_x: Any, at_y: Any) -> None:
        tx.update(state, model, {"x": at_x, "y": (at_y,)})

    run = tf.function(step) if in_function else step
    run(tf.constant([2.0, np.nan]), tf.constant([2.0, np.nan]))
    np.testing.assert_allclose(variable[0], 0.8)
    error = tf.errors.InvalidArgumentError if in_function else ValueError
    with pytest.raises(error, match=r"places of the tied leaf .*x.* differ"):
        run(tf.constant([2.0, 0.0]), tf.constant([3.0, 0.0]))


def test_k_sparse_parts_of_a_tied_table_add_up() -> None:
    table = tf.Variable(tf.ones([3, 1]))
    model = [table, {"output": table}]
    rows = tf.IndexedSlices(tf.constant([[1.0], [2.0]]), tf.constant([0, 0]), tf.constant([3, 1]))
    state = tx.setup(tx.SGD(1.0), model, tied="sum")
    tx.update(state, model, [rows, {"output": tf.constant([[0.5], [0.5], [0.5]])}])
    np.testing.assert_allclose(table, [[-2.5], [0.5], [0.5]])


def test_k_sparse_parts_alone_stay_sparse_so_that_a_lazy_state_steps_their_rows_only() -> None:
    table = tf.Variable(tf.ones([3, 1]))
    model = [table, (table,)]
    state = tx.setup(tx.SGD(1.0, momentum=0.5), model, sparse="lazy", tied="sum")

    def rows(*ids: int) -> Any:
        return tf.IndexedSlices(tf.ones([len(ids), 1]), tf.constant(ids), tf.constant([3, 1]))

    tx.update(state, model, [rows(0, 0), (rows(0, 1),)])
    tx.update(state, model, [rows(1), None])
    np.testing.assert_allclose(table, [[-2.0], [-1.5], [1.0]])


def test_k_another_word_than_total_or_sum_is_refused() -> None:
    with pytest.raises(ValueError, match='tied must be "total" or "sum", got \'mean\''):
        tx.setup(tx.SGD(), tf.Variable(1.0), tied="mean")  # type: ignore[arg-type]


def test_k_containers_that_are_one_object_stay_one_and_equal_ones_stay_two() -> None:
    shared, twin = Foo(tensor(1.0), tensor(2.0)), Foo(tensor(1.0), tensor(2.0))
    model = {"a": shared, "b": [shared], "c": twin, "d": shared}
    state = tx.setup(tx.SGD(0.1), model)
    assert state.paths == ["a/x", "a/y", "c/x", "c/y"]
    _, new = tx.update(state, model, [tensor(1.0)] * 4)
    assert new["a"] is new["b"][0] is new["d"]
    assert new["c"] is not new["a"]
    np.testing.assert_array_equal(new["c"].x, new["a"].x)


# N: the values of a model with ties, as `destructure` of Optimisers.jl lists them.


def test_n_tied_arrays_are_listed_once() -> None:
    m1 = tensor(1.0, 2.0, 3.0)
    m2 = (m1, tensor(4.0, 5.0, 6.0))
    m4 = (m1, {"y": m1}, m2[1])
    nested = (m2, {"m": m4, "z": (tensor(7.0, 8.0, 9.0), m1)})
    for model, length in ((m1, 3), (m2, 6), (m4, 6), (nested, 9)):
        flat = np.concatenate([leaf.numpy() for leaf in tx.trainables(model)])
        np.testing.assert_array_equal(flat, np.arange(1.0, length + 1))


def test_n_the_gradient_of_tied_copies_is_the_total_at_each() -> None:
    x, y = tensor(1.0, 2.0), tensor(3.0, 4.0)
    model = {"x": x, "y": y, "z": x}

    def loss(model: Any) -> Any:
        return 3 * tf.reduce_sum(model["x"]) + 13 * tf.reduce_sum(model["z"])

    grads = tx.grad(loss)(model)
    np.testing.assert_array_equal(grads["x"], [16.0, 16.0])
    assert grads["z"] is grads["x"]
    assert grads["y"] is None


# O: trainables.


def test_o_counts_order_and_paths() -> None:
    tied = tf.Variable([1.0])
    model = {
        "layers": (Foo(tied, [tensor(2.0), "no"]), TwoThirds(tensor(3.0), tied, tensor(0.0))),
        "scale": tied,
        "step": tf.Variable(1, trainable=False),
        "numbers": (1, 2.0, np.arange(3)),
        "complex": tf.constant([1j]),
    }
    pairs = tx.trainables(model, path=True)
    assert [path for path, _ in pairs] == ["layers/0/x", "layers/0/y/0", "layers/1/a", "complex"]
    assert pairs[0][1] is tied
    assert len(tx.trainables(model)) == 4
    assert tx.trainables({"a": 1.0, "b": (None, "x")}) == []


def test_o_a_regulariser_over_the_leaves_has_a_gradient_at_every_place() -> None:
    tied = tensor(1.0, 2.0)
    model = {"a": tied, "b": [tied, tensor(3.0)], "c": Foo(tensor(4.0), "static")}
    grads = tx.grad(squares)(model)
    np.testing.assert_array_equal(grads["a"], [2.0, 4.0])
    assert grads["b"][0] is grads["a"]
    np.testing.assert_array_equal(grads["b"][1], [6.0])
    np.testing.assert_array_equal(grads["c"].x, [8.0])
    assert grads["c"].y is None

    def of_two(model: Any) -> Any:
        return sum(
            tf.reduce_sum(leaf) for path, leaf in tx.trainables(model, path=True) if path != "a"
        )

    chosen = tx.grad(of_two)(model)
    assert chosen["a"] is None
    np.testing.assert_array_equal(chosen["b"][1], [1.0])


def test_o_second_derivatives() -> None:
    model = {"x": tensor(1.0, 2.0, 3.0), "y": [tensor(4.0)]}

    def curvature(model: Any) -> Any:
        first = tx.grad(lambda inner: squares(inner) ** 2)(model)
        return tf.reduce_sum(first["x"]) + tf.reduce_sum(first["y"][0])

    # squares = s; first = 4 s p; sum(first) = 4 s sum(p); second = 8 p sum(p) + 4 s.
    grads = tx.grad(curvature)(model)
    np.testing.assert_allclose(grads["x"], [80 + 120, 160 + 120, 240 + 120])
    np.testing.assert_allclose(grads["y"][0], [320 + 120])
