"""Every kind of model: which leaves, in which order, under which paths."""

from __future__ import annotations

import collections
import dataclasses
import warnings
from typing import Any, NamedTuple

import keras
import numpy as np
import pytest
import tensorflow as tf
import tf_keras

import tfexplicit as tx


class Pair(NamedTuple):
    w: Any
    b: Any


@dataclasses.dataclass
class Block:
    kernel: Any
    name: str = "block"


@dataclasses.dataclass(frozen=True)
class FrozenBlock:
    kernel: Any


class Subclassed(keras.Model):
    def __init__(self) -> None:
        super().__init__()
        self.encoder = keras.Sequential([keras.layers.Dense(4), keras.layers.Dense(2)])
        self.heads = [keras.layers.Dense(1), keras.layers.Dense(1)]

    def call(self, x: Any) -> Any:
        hidden = self.encoder(x)
        return self.heads[0](hidden) + self.heads[1](hidden)


class TfKerasSubclassed(tf_keras.Model):
    def __init__(self) -> None:
        super().__init__()
        self.encoder = tf_keras.layers.Dense(4)
        self.decoder = tf_keras.layers.Dense(1)

    def call(self, x: Any) -> Any:
        return self.decoder(self.encoder(x))


class Linear(tf.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = tf.Variable([[1.0]])
        self.bias = tf.Variable([0.0])
        self.count = tf.Variable(0.0, trainable=False)


class Stack(tf.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = [Linear(), Linear()]
        self.named = {"last": Linear()}


def called(model: Any) -> Any:
    model(tf.ones([2, 3]))
    return model


def functional(package: Any) -> Any:
    inputs = package.layers.Input((3,))
    hidden = package.layers.Dense(4, name="first")(inputs)
    hidden = package.layers.BatchNormalization(name="norm")(hidden)
    return package.Model(inputs, package.layers.Dense(1, name="second")(hidden))


LISTED = {
    "keras functional": lambda: functional(keras),
    "keras subclassed": lambda: called(Subclassed()),
    "keras lstm": lambda: keras.Sequential(
        [keras.layers.Input((4, 3)), keras.layers.Bidirectional(keras.layers.LSTM(2))]
    ),
    "keras attention": lambda: _attention(),
    "tf_keras functional": lambda: functional(tf_keras),
    "tf_keras subclassed": lambda: called(TfKerasSubclassed()),
    "tf.Module": Stack,
}


def _attention() -> Any:
    inputs = keras.layers.Input((4, 3))
    return keras.Model(inputs, keras.layers.MultiHeadAttention(2, 2, name="mha")(inputs, inputs))


@pytest.mark.parametrize("kind", LISTED)
def test_leaves_are_exactly_what_the_model_trains(kind: str) -> None:
    model = LISTED[kind]()
    leaves = tx.trainables(model)
    assert [id(leaf) for leaf in leaves] == [id(leaf) for leaf in model.trainable_variables]
    paths = [path for path, _ in tx.trainables(model, path=True)]
    assert len(set(paths)) == len(paths)
    assert not any(path.split("/")[0].startswith("_") for path in paths)


def test_paths_read_as_the_model_is_written() -> None:
    def paths(model: Any) -> list[str]:
        return [path for path, _ in tx.trainables(model, path=True)]

    assert paths(functional(keras))[:4] == [
        "first/kernel",
        "first/bias",
        "norm/gamma",
        "norm/beta",
    ]
    assert paths(functional(tf_keras))[:3] == ["first/kernel", "first/bias", "norm/gamma"]
    subclassed = paths(called(Subclassed()))
    assert [path.split("/")[0] for path in subclassed[:4]] == ["encoder"] * 4
    assert subclassed[4:] == ["heads/0/kernel", "heads/0/bias", "heads/1/kernel", "heads/1/bias"]
    assert paths(called(TfKerasSubclassed())) == [
        "encoder/kernel",
        "encoder/bias",
        "decoder/kernel",
        "decoder/bias",
    ]
    assert sorted(paths(Stack())) == sorted(
        f"{place}/{name}"
        for place in ("layers/0", "layers/1", "named/last")
        for name in ("weight", "bias")
    )
    assert "mha/query_dense/kernel" in paths(LISTED["keras attention"]())


def test_containers_hold_leaves_by_key_index_and_field() -> None:
    w, b = tf.Variable([1.0]), tf.constant([2.0])
    model = {
        "layers": [Pair(w, b), Block(np.ones(2))],
        "frozen": FrozenBlock(tf.Variable(1.0)),
        "ordered": collections.OrderedDict(z=tf.constant(3.0), a=tf.Variable(1j)),
        "not leaves": (1.0, 2, "text", None, abs, np.arange(3), tf.constant(1), True),
        "not trained": tf.Variable(1.0, trainable=False),
        "objects": np.array([object()]),
    }
    assert [path for path, _ in tx.trainables(model, path=True)] == [
        "layers/0/w",
        "layers/0/b",
        "layers/1/kernel",
        "frozen/kernel",
        "ordered/z",
        "ordered/a",
    ]


def test_update_rebuilds_what_holds_arrays_and_leaves_the_rest() -> None:
    variable = tf.Variable(1.0)
    only_variables = [variable]
    model = {
        "pair": Pair(tf.constant([1.0]), "kept"),
        "block": Block(np.ones(2, np.float32)),
        "frozen": FrozenBlock(tf.constant(1.0)),
        "same": only_variables,
    }
    grads = {
        "pair": Pair(tf.constant([1.0]), None),
        "block": Block(np.ones(2, np.float32)),
        "frozen": FrozenBlock(tf.constant(2.0)),
        "same": [tf.constant(4.0)],
    }
    _, new = tx.update(tx.setup(tx.SGD(0.5), model), model, grads)
    assert isinstance(new["pair"], Pair)
    assert new["pair"].b == "kept"
    np.testing.assert_array_equal(new["pair"].w, [0.5])
    assert isinstance(new["block"].kernel, np.ndarray)
    np.testing.assert_array_equal(new["block"].kernel, [0.5, 0.5])
    assert isinstance(new["frozen"], FrozenBlock)
    assert float(new["frozen"].kernel) == 0.0
    assert new["same"] is only_variables
    assert float(variable) == -1.0
    np.testing.assert_array_equal(model["block"].kernel, [1.0, 1.0])


def test_a_single_leaf_is_a_model() -> None:
    variable = tf.Variable([1.0, 2.0], name="image")
    state = tx.setup(tx.SGD(1.0), variable)
    assert state.paths == ["image"]
    tx.update(state, variable, tf.constant([1.0, 1.0]))
    np.testing.assert_array_equal(variable, [0.0, 1.0])
    tensor = tf.constant(1.0)
    _, new = tx.update(tx.setup(tx.SGD(1.0), tensor), tensor, tf.constant(0.25))
    assert float(new) == 0.75


def test_tied_leaves_have_one_slot_set_and_one_step() -> None:
    shared = tf.Variable([1.0])
    model = {"embed": shared, "head": {"w": shared}, "b": tf.Variable([1.0])}
    state = tx.setup(tx.SGD(0.1, momentum=0.9), model)
    assert state.paths == ["embed", "b"]
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(shared * shared) + tf.reduce_sum(model["b"])
    grads = tape.gradient(loss, model)
    tx.update(state, model, grads)
    np.testing.assert_allclose(shared, [0.8])
    tx.update(state, model, {"embed": None, "head": {"w": tf.constant([0.0])}, "b": None})
    np.testing.assert_allclose(shared, [0.8 - 0.18], rtol=1e-6)


def test_a_tie_of_arrays_is_kept_in_the_result() -> None:
    array = tf.constant([1.0])
    model = [array, {"again": array}]
    _, new = tx.update(tx.setup(tx.SGD(0.5), model), model, [tf.constant([1.0])] * 1)
    assert new[0] is new[1]["again"]


def test_cycles_end() -> None:
    model: dict[str, Any] = {"w": tf.constant([1.0])}
    model["self"] = model
    model["list"] = [model, tf.Variable([1.0])]
    state = tx.setup(tx.SGD(0.5), model)
    assert state.paths == ["w", "list/1"]
    _, new = tx.update(state, model, {"w": tf.constant([1.0]), "list/1": tf.constant([2.0])})
    assert new["self"] is new
    assert new["list"][0] is new
    np.testing.assert_array_equal(new["w"], [0.5])
    np.testing.assert_array_equal(new["list"][1], [0.0])


def test_shared_containers_are_walked_once() -> None:
    model: Any = [tf.Variable(1.0)]
    for _ in range(60):
        # 2 ** 60 places, 61 containers.
        model = [model, model]
    assert len(tx.trainables(model)) == 1


def test_deep_models_do_not_exhaust_the_stack() -> None:
    model: Any = tf.constant(1.0)
    for _ in range(5000):
        model = [model]
    state = tx.setup(tx.SGD(1.0), model)
    _, new = tx.update(state, model, [tf.constant(0.25)])
    for _ in range(5000):
        new = new[0]
    assert float(new) == 0.75


def test_a_model_without_leaves_is_a_warning_and_an_unbuilt_one_is_not() -> None:
    with pytest.warns(UserWarning, match="no trainable leaves"):
        tx.setup(tx.SGD(), {"a": 1.0, "b": np.arange(3)})
    for package in (keras, tf_keras):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            tx.setup(tx.SGD(), package.Sequential([package.layers.Dense(1)]))


@pytest.mark.parametrize("make", [Subclassed, TfKerasSubclassed])
def test_an_unbuilt_model_gets_its_slots_at_the_first_update(make: Any) -> None:
    model, second = make(), make()
    state = tx.setup(tx.Adam(0.01), model)
    second_state = tx.setup(tx.Adam(0.01), second)
    traces = 0

    @tf.function
    def step(x: Any) -> Any:
        nonlocal traces
        traces += 1
        with tf.GradientTape(persistent=True) as tape:
            loss = tf.reduce_mean(model(x) ** 2) + tf.reduce_mean(second(x) ** 2)
        tx.update(state, model, tape.gradient(loss, tx.trainables(model)))
        tx.update(second_state, second, tape.gradient(loss, tx.trainables(second)))
        return loss

    losses = [float(step(tf.ones([2, 3]))) for _ in range(5)]
    kinds = {path: dict(state[path].slots) for path in state.paths}
    step(tf.ones([4, 3]))
    assert losses[-1] < losses[0]
    assert len(state.paths) == len(model.trainable_variables)
    assert int(state.step) == 6
    assert kinds == {path: dict(state[path].slots) for path in state.paths}


def test_a_layer_that_is_unfrozen_later_joins_and_counts_from_then() -> None:
    model = functional(keras)
    model.get_layer("first").trainable = False
    state = tx.setup(tx.Adam(0.1), model)
    grads = [tf.ones(leaf.shape) for leaf in tx.trainables(model)]
    for _ in range(3):
        tx.update(state, model, grads)
    model.get_layer("first").trainable = True
    before = model.get_layer("first").kernel.numpy()
    tx.update(state, model, [tf.ones(leaf.shape) for leaf in tx.trainables(model)])
    # Adam's first step is the learning rate, whatever the gradient.
    np.testing.assert_allclose(before - model.get_layer("first").kernel.numpy(), 0.1, rtol=1e-4)
    assert "first/kernel" in state.paths


def test_one_optimizer_for_models_that_are_built_one_after_the_other_shares_its_count() -> None:
    critic = keras.Sequential([keras.layers.Dense(1, use_bias=False)])
    policy = keras.Sequential([keras.layers.Dense(1, use_bias=False)])
    state = tx.setup(tx.Adam(0.1), (critic, policy))
    critic.build((None, 2))
    tx.update(state, critic, [tf.ones([2, 1])])
    policy.build((None, 2))
    policy.layers[0].kernel.assign(tf.zeros([2, 1]))
    tx.update(state, policy, [tf.ones([2, 1])])
    # The second update of one Adam: alpha(2) * 0.1 / sqrt(0.001).
    expected = 0.1 * np.sqrt(1 - 0.999**2) / (1 - 0.9**2) * 0.1 / np.sqrt(0.001)
    np.testing.assert_allclose(policy.layers[0].kernel.numpy(), -expected, rtol=1e-4)
    assert int(state.step) == 2
