"""`params` and `assign`: the values of a model out, and in again."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
import tf_keras

import tfexplicit as tx


def network(package: Any) -> Any:
    return package.Sequential(
        [
            package.layers.Input((3,)),
            package.layers.Dense(2, name="first"),
            package.layers.BatchNormalization(name="norm"),
            package.layers.Dropout(0.5, seed=1, name="drop"),
            package.layers.Dense(1, name="second"),
        ]
    )


class Counting(tf.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = [tf.Module(), tf.Module()]
        for layer in self.layers:
            layer.weight = tf.Variable([1.0, 2.0])
            layer.count = tf.Variable(3, trainable=False)


def flat(nested: Any, path: str = "") -> dict[str, Any]:
    found = {}
    for key, value in nested.items():
        below = f"{path}/{key}" if path else key
        found.update(flat(value, below) if isinstance(value, dict) else {below: value})
    return found


def assert_same(ours: Any, theirs: Any) -> None:
    ours, theirs = flat(ours), flat(theirs)
    assert list(ours) == list(theirs)
    for path, value in ours.items():
        np.testing.assert_array_equal(value, theirs[path], path)


STATISTICS = ["norm/moving_mean", "norm/moving_variance"]
SEEDS = ["drop/seed_generator_state"]


@pytest.mark.parametrize(
    ("package", "others"), [(keras, [*STATISTICS, *SEEDS]), (tf_keras, STATISTICS)]
)
def test_the_values_of_a_keras_model_by_path(package: Any, others: list[str]) -> None:
    model = network(package)
    values = tx.params(model)
    leaves = [path for path, _ in tx.trainables(model, path=True)]
    assert sorted(flat(values)) == sorted([*leaves, *others])
    assert list(flat(tx.params(model, trainable=True))) == leaves
    assert list(flat(tx.params(model, trainable=False))) == others
    assert all(isinstance(value, tf.Tensor) for value in flat(values).values())
    np.testing.assert_array_equal(values["norm"]["moving_variance"], [1.0, 1.0])


def test_seeds_keep_their_path_from_one_model_to_the_next() -> None:
    # Keras numbers seed generators through the whole process.
    assert list(flat(tx.params(network(keras)))) == list(flat(tx.params(network(keras))))


def test_the_trainable_values_are_what_updated_returns() -> None:
    model = network(keras)
    grads = [tf.zeros_like(leaf) for leaf in tx.trainables(model)]
    _, weights = tx.updated(tx.setup(tx.SGD(), model), model, grads)
    assert_same(weights, tx.params(model, trainable=True))


def test_a_frozen_layer_is_among_the_others() -> None:
    model = network(keras)
    model.get_layer("first").trainable = False
    assert {"first/kernel", "first/bias"} <= set(flat(tx.params(model, trainable=False)))


def test_containers_of_all_kinds_become_dicts() -> None:
    shared = tf.Variable([1.0])
    model = {
        "net": Counting(),
        "list": [shared, {"again": shared}, tf.Variable(7, trainable=False)],
        "array": np.ones(2, np.float32),
        "text": "kept",
    }
    assert {path: value.numpy().tolist() for path, value in flat(tx.params(model)).items()} == {
        "net/layers/0/weight": [1.0, 2.0],
        "net/layers/1/weight": [1.0, 2.0],
        "net/layers/0/count": 3,
        "net/layers/1/count": 3,
        "list/0": [1.0],
        "list/2": 7,
        "array": [1.0, 1.0],
    }


def test_what_is_in_the_values_stays_when_the_model_moves_on() -> None:
    variable = tf.Variable([1.0, 2.0])
    values = tx.params({"w": variable})
    state = tx.setup(tx.SGD(1.0), {"w": variable})
    tx.update(state, {"w": variable}, [tf.ones([2])])
    np.testing.assert_array_equal(values["w"], [1.0, 2.0])


@pytest.mark.parametrize("make", [lambda: network(keras), lambda: network(tf_keras), Counting])
@pytest.mark.parametrize("in_function", [False, True], ids=["eager", "function"])
def test_assign_writes_back_what_params_read(make: Any, in_function: bool) -> None:
    model, other = make(), make()
    for variable in other.variables:
        variable.assign(variable + tf.ones_like(variable))
    before = tx.params(other)

    def copy_over() -> None:
        tx.assign(model, tx.params(other))

    (tf.function(copy_over) if in_function else copy_over)()
    assert_same(tx.params(model), before)
    assert_same(tx.params(other), before)


def test_assign_takes_the_leaves_or_the_rest_or_both_apart() -> None:
    model, other = network(keras), network(keras)
    start, new = tx.params(model), tx.params(other)
    weights, rest = tx.params(other, trainable=True), tx.params(other, trainable=False)
    tx.assign(model, weights)
    assert_same(tx.params(model, trainable=True), weights)
    assert_same(
        tx.params(model, trainable=False),
        {path: flat(start)[path] for path in [*STATISTICS, *SEEDS]},
    )
    tx.assign(model, start)
    tx.assign(model, rest)
    assert_same(tx.params(model, trainable=False), rest)
    np.testing.assert_array_equal(model.get_layer("first").kernel, start["first"]["kernel"])
    tx.assign(model, (weights, rest))
    assert_same(tx.params(model), new)


def test_assign_takes_flat_paths_arrays_and_variables() -> None:
    model = {"a": {"b": tf.Variable([1.0])}, "c": tf.Variable(1.0)}
    tx.assign(model, {"a/b": np.float32([5.0]), "c": model["c"]})
    assert model["a"]["b"].numpy().tolist() == [5.0]
    assert model["c"].numpy() == 1.0


def test_variables_can_swap_their_values() -> None:
    a, b = tf.Variable(1.0), tf.Variable(2.0)
    tx.assign({"a": a, "b": b}, {"a": b, "b": a})
    assert (a.numpy(), b.numpy()) == (2.0, 1.0)


def test_tensors_and_arrays_are_replaced_in_what_assign_returns() -> None:
    variable = tf.Variable(1.0)
    model = {"v": variable, "t": tf.constant(1.0), "n": np.float32([1.0]), "k": "kept"}
    new = tx.assign(model, {"v": np.float32(2), "t": np.float32(3), "n": tf.constant([4.0])})
    assert new["v"] is variable
    assert new["k"] == "kept"
    assert isinstance(new["n"], np.ndarray)
    assert (new["v"].numpy(), float(new["t"]), new["n"][0]) == (2.0, 3.0, 4.0)
    assert (float(model["t"]), model["n"][0]) == (1.0, 1.0)


def without(nested: Any, path: str) -> Any:
    return {key: value for key, value in flat(nested).items() if key != path}


def changed(nested: Any, path: str, value: Any) -> Any:
    return {**flat(nested), path: value}


@pytest.mark.parametrize(
    ("spoil", "error", "message"),
    [
        (
            lambda p: changed(p, "first/kernl", tf.zeros([3, 2])),
            ValueError,
            r"assign: the model has no 'first/kernl'\. Did you mean 'first/kernel'",
        ),
        (
            lambda p: without(p, "first/kernel"),
            ValueError,
            r"no value for 'first/kernel'\. .* tx\.params\(model, trainable=True\)",
        ),
        (
            lambda p: without(p, "norm/moving_mean"),
            ValueError,
            r"no value for 'norm/moving_mean'\. .* tx\.params\(model, trainable=False\)",
        ),
        (
            lambda p: changed(p, "second/kernel", tf.zeros([2, 2])),
            ValueError,
            r"'second/kernel' has shape \(2, 1\), got \(2, 2\)",
        ),
        (
            lambda p: changed(p, "second/kernel", np.zeros([2, 1])),
            TypeError,
            r"'second/kernel' is float32, got float64",
        ),
        (
            lambda p: changed(p, "second/bias", 0.0),
            TypeError,
            r"'second/bias' must be a tensor or ndarray, got float",
        ),
        (lambda p: {}, ValueError, r"no value for 'first/kernel'"),
        (lambda p: list(flat(p).values()), TypeError, r"nested dict by path .* got EagerTensor"),
        (lambda p: (p, p), ValueError, r"'first/kernel' is given twice"),
    ],
)
def test_wrong_values_are_named_and_nothing_is_written(
    spoil: Any, error: type[Exception], message: str
) -> None:
    model = network(keras)
    before = tx.params(model)
    good = tx.params(network(keras))
    with pytest.raises(error, match=message):
        tx.assign(model, spoil(good))
    assert_same(tx.params(model), before)


def test_a_path_below_an_array_is_refused() -> None:
    for model in (
        {"a": tf.Variable(1.0), "a/b": tf.Variable(1.0)},
        {"a/b": tf.Variable(1.0), "a": tf.Variable(1.0)},
    ):
        with pytest.raises(ValueError, match="Rename a key"):
            tx.params(model)
