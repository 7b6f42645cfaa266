"""Models that get their leaves after `setup`: built later, unfrozen, grown, cut."""

from __future__ import annotations

import copy
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
import tf_keras

import tfexplicit as tx


class KerasTwoLayers(keras.Model):
    def __init__(self) -> None:
        super().__init__()
        self.encoder = keras.layers.Dense(4)
        self.decoder = keras.layers.Dense(1)

    def call(self, x: Any) -> Any:
        return self.decoder(self.encoder(x))


class TfKerasTwoLayers(tf_keras.Model):
    def __init__(self) -> None:
        super().__init__()
        self.encoder = tf_keras.layers.Dense(4)
        self.decoder = tf_keras.layers.Dense(1)

    def call(self, x: Any) -> Any:
        return self.decoder(self.encoder(x))


def functional(package: Any) -> Any:
    inputs = package.layers.Input((3,))
    hidden = package.layers.Dense(3, name="first")(inputs)
    return package.Model(inputs, package.layers.Dense(1, name="second")(hidden))


def ones_for(model: Any) -> list[Any]:
    return [tf.ones(leaf.shape) for leaf in tx.trainables(model)]


def unbuilt_sequential(package: Any) -> Any:
    return package.Sequential([package.layers.Dense(4), package.layers.Dense(1)])


@pytest.mark.parametrize(
    "make",
    [
        KerasTwoLayers,
        TfKerasTwoLayers,
        lambda: unbuilt_sequential(keras),
        lambda: unbuilt_sequential(tf_keras),
    ],
)
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


@pytest.mark.parametrize("package", [keras, tf_keras])
def test_a_layer_that_is_toggled_joins_late_leaves_and_comes_back(package: Any) -> None:
    model = functional(package)
    first = model.get_layer("first")
    first.trainable = False
    state = tx.setup(tx.Adam(0.1), model)
    assert state.paths == ["second/kernel", "second/bias"]
    for _ in range(3):
        tx.update(state, model, ones_for(model))

    first.trainable = True
    before = first.kernel.numpy()
    tx.update(state, model, ones_for(model))
    # Adam's first step is the learning rate, whatever the gradient.
    np.testing.assert_allclose(before - first.kernel.numpy(), 0.1, rtol=1e-4)
    assert state.paths[2:] == ["first/kernel", "first/bias"]

    slot, kernel = state["first/kernel"].slots["momentum"], first.kernel.numpy()
    kept = slot.numpy()
    first.trainable = False
    tx.update(state, model, ones_for(model))
    np.testing.assert_array_equal(slot, kept)
    np.testing.assert_array_equal(first.kernel, kernel)

    first.trainable = True
    tx.update(state, model, ones_for(model))
    np.testing.assert_allclose(slot, kept * 0.9 + 0.1, rtol=1e-6)
    assert state["first/kernel"].slots["momentum"] is slot
    assert len(state.paths) == 4


class Growing(tf_keras.Model):
    """Keras 3 refuses layers that come after the model is built, except in a `Sequential`."""

    def __init__(self) -> None:
        super().__init__()
        self.blocks = [tf_keras.layers.Dense(3)]

    def add(self, layer: Any) -> None:
        self.blocks.append(layer)

    def call(self, x: Any) -> Any:
        for block in self.blocks:
            x = block(x)
        return x


@pytest.mark.parametrize(
    ("make", "package", "path"),
    [
        (Growing, tf_keras, "blocks/1/kernel"),
        (lambda: keras.Sequential([keras.layers.Dense(3)]), keras, "dense_1/kernel"),
        (lambda: tf_keras.Sequential([tf_keras.layers.Dense(3)]), tf_keras, "dense_1/kernel"),
    ],
    ids=["subclassed", "sequential", "tf_keras sequential"],
)
def test_a_model_that_grows_a_layer_keeps_what_it_had(make: Any, package: Any, path: str) -> None:
    model = make()
    model(tf.ones([1, 3]))
    state = tx.setup(tx.Adam(0.1), model)
    tx.update(state, model, ones_for(model))
    first = state.paths[0]
    old = dict(state[first].slots)
    model.add(package.layers.Dense(3))
    model(tf.ones([1, 3]))
    kernel = model.trainable_variables[2]
    before = kernel.numpy()
    tx.update(state, model, ones_for(model))
    # Its first step, though the state's second.
    np.testing.assert_allclose(before - kernel.numpy(), 0.1, rtol=1e-4)
    assert state.paths[2] == path
    assert state[first].slots == old


def test_a_list_grows_shrinks_and_grows_again() -> None:
    first, second, third = (tf.Variable([0.0]) for _ in range(3))
    model = [first]
    state = tx.setup(tx.Adam(0.1), model)
    tx.update(state, model, [tf.ones(1)])
    model.append(second)
    tx.update(state, model, [tf.ones(1)] * 2)
    np.testing.assert_allclose(second, -0.1, rtol=1e-5)
    momentum = state["0"].slots["momentum"]
    model.pop(0)
    tx.update(state, model, [tf.ones(1)])
    np.testing.assert_allclose(momentum, 1 - 0.9**2, rtol=1e-5)
    # The path of the one that left is still taken by its slots.
    model.insert(0, third)
    tx.update(state, model, [tf.ones(1)] * 2)
    assert state.paths == ["0", "1", "0_1"]
    model.append(first)
    tx.update(state, model, [None, None, tf.ones(1)])
    np.testing.assert_allclose(momentum, 1 - 0.9**3, rtol=1e-5)


NOT_BUILT = r"not built yet: call it on a batch, or model\.build"


def test_parts_of_an_unbuilt_model_say_what_to_do_and_are_there_once_it_is_built() -> None:
    model = keras.Sequential([keras.layers.Dense(2, name="encoder")])
    state = tx.setup(tx.Adam(0.1), model)
    assert "not built yet" in repr(state)
    with pytest.raises(KeyError, match=NOT_BUILT):
        tx.freeze(state, "encoder/**")
    with pytest.raises(KeyError, match=NOT_BUILT):
        state["encoder"]
    with pytest.raises(ValueError, match=NOT_BUILT):
        tx.adjust(state, learning_rate=0.2)
    model.build((None, 3))
    tx.freeze(state["encoder/bias"])
    tx.adjust(state, learning_rate=0.2)
    before = [variable.numpy() for variable in model.trainable_variables]
    tx.update(state, model, ones_for(model))
    kernel, bias = model.trainable_variables
    np.testing.assert_allclose(before[0] - kernel.numpy(), 0.2, rtol=1e-4)
    np.testing.assert_array_equal(before[1], bias)
    assert "not built" not in repr(state)


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


@pytest.mark.parametrize("package", [keras, tf_keras])
def test_a_base_that_is_unfrozen_trains_at_the_rate_set_before(package: Any) -> None:
    model = functional(package)
    base, head = model.get_layer("first"), model.get_layer("second")
    base.trainable = False
    state = tx.setup(tx.Chain(tx.ClipByValue(10.0), tx.SGD(1.0)), model)
    tx.update(state, model, ones_for(model))
    tx.adjust(state, learning_rate=0.25)
    tx.adjust(state["second"], learning_rate=0.5)
    base.trainable = True
    before = [leaf.numpy() for leaf in (base.bias, head.bias)]
    tx.update(state, model, ones_for(model))
    np.testing.assert_allclose(base.bias, before[0] - 0.25)
    np.testing.assert_allclose(head.bias, before[1] - 0.5)
    assert state["first"].hyper["learning_rate"] == 0.25


def test_what_is_set_in_a_part_does_not_reach_a_leaf_that_joins_another() -> None:
    one = tf.constant(1.0)
    model = {"slow": {"a": tf.Variable(0.0)}}
    state = tx.setup(tx.SGD(1.0), model)
    tx.adjust(state["slow"], learning_rate=0.25)
    model["slow"]["b"] = tf.Variable(0.0)
    model["fast"] = {"c": tf.Variable(0.0)}
    tx.update(state, model, {"slow": {"a": one, "b": one}, "fast": {"c": one}})
    assert [float(leaf.numpy()) for leaf in tx.trainables(model)] == [-0.25, -0.25, -1.0]
    tx.adjust(state, tx.SGD(0.5))
    copied = copy.deepcopy(state)
    model["d"] = tf.Variable(0.0)
    for own in (state, copied):
        tx.update(own, model["d"], one)
    assert model["d"].numpy() == -1.0


def test_a_rate_set_in_the_traced_step_reaches_a_leaf_that_joins_in_it() -> None:
    model = {"a": tf.Variable(0.0)}
    state = tx.setup(tx.SGD(1.0), model)
    model["b"] = tf.Variable(0.0)

    @tf.function
    def step(rate: Any) -> None:
        tx.adjust(state, learning_rate=rate)
        tx.update(state, model, [tf.constant(1.0)] * 2)

    step(tf.constant(0.25))
    assert [leaf.numpy() for leaf in tx.trainables(model)] == [-0.25, -0.25]


@pytest.mark.parametrize("package", [keras, tf_keras])
def test_a_keras_optimizer_waits_for_the_rest_of_a_partly_built_model(package: Any) -> None:
    """It is built once: what came later would be in no checkpoint of it."""

    class Scaled(package.Model):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.scale = self.add_weight(shape=(), initializer="ones", name="scale")
            self.dense = package.layers.Dense(1)

        def call(self, x: Any) -> Any:
            return self.scale * self.dense(x)

    def trained(explicit: bool) -> tuple[Any, Any]:
        package.utils.set_random_seed(1)
        model, optimizer = Scaled(), package.optimizers.Adam(0.1)
        state = tx.setup(optimizer, model) if explicit else None
        for _ in range(3):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(model(tf.ones([2, 3])) ** 2)
            grads = tape.gradient(loss, model.trainable_variables)
            if explicit:
                tx.update(state, model, grads)
            else:
                optimizer.apply_gradients(zip(grads, model.trainable_variables, strict=True))
        return model, optimizer

    model, optimizer = trained(explicit=True)
    other, before = trained(explicit=False)
    for one, two in zip(model.trainable_variables, other.trainable_variables, strict=True):
        np.testing.assert_array_equal(one, two)
    slots = [tuple(variable.shape) for variable in optimizer.variables]
    assert slots == [tuple(variable.shape) for variable in before.variables]
