"""A run that Keras began and saved goes on here, step for step as it would have in Keras."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
import tf_keras

import tfexplicit as tx

PACKAGES = [keras, tf_keras]
OPTIMIZERS: dict[str, Any] = {
    "adam": lambda k: k.optimizers.Adam(0.1),
    "momentum": lambda k: k.optimizers.SGD(0.1, momentum=0.9),
    "clipped adamw": lambda k: k.optimizers.AdamW(0.1, weight_decay=0.1, global_clipnorm=1.0),
}
X = np.random.default_rng(0).normal(size=(8, 3)).astype("float32")
Y = np.ones((8, 1), "float32")


@pytest.fixture(params=PACKAGES, ids=["keras", "tf_keras"])
def package(request: pytest.FixtureRequest) -> Any:
    return request.param


def begun(package: Any, name: str) -> Any:
    """A model that has trained for three steps in `fit`."""
    layers = package.layers
    model = package.Sequential([layers.Input((3,)), layers.Dense(2, "tanh"), layers.Dense(1)])
    model.compile(OPTIMIZERS[name](package), "mse")
    model.fit(X, Y, batch_size=8, epochs=3, verbose=0)
    return model


def gone_on(model: Any, opt_state: Any = None) -> list[Any]:
    """The weights after three more steps, by `update` if there is a state, else by Keras."""

    def loss_of(model: Any) -> Any:
        return tf.reduce_mean((model(X) - Y) ** 2)

    for _ in range(3):
        if opt_state is not None:
            tx.minimize(loss_of, opt_state, model)
        else:
            with tf.GradientTape() as tape:
                loss = loss_of(model)
            grads = tape.gradient(loss, model.trainable_variables)
            model.optimizer.apply_gradients(zip(grads, model.trainable_variables, strict=True))
    return [np.asarray(leaf) for leaf in model.trainable_variables]


def assert_close(ours: list[Any], theirs: list[Any]) -> None:
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("into", ["the optimizer", "a rule"])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_keras_file_goes_on(package: Any, name: str, into: str, tmp_path: Path) -> None:
    model = begun(package, name)
    model.save(tmp_path / "run.keras")
    expected = gone_on(model)
    loaded = package.models.load_model(tmp_path / "run.keras")
    if into == "a rule":
        state = tx.setup(tx.from_keras(loaded.optimizer), loaded)
        tx.load_keras_state(state, loaded.optimizer)
    else:
        state = tx.setup(loaded.optimizer, loaded)
    assert int(state.step) == 3
    assert_close(gone_on(loaded, state), expected)


@pytest.mark.parametrize("restored", ["before setup", "after setup"])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_checkpoint_of_the_optimizer_goes_on(
    package: Any, name: str, restored: str, tmp_path: Path
) -> None:
    model = begun(package, name)
    checkpoint = tf.train.Checkpoint(model=model, optimizer=model.optimizer)
    path = checkpoint.save(str(tmp_path / "run"))
    expected = gone_on(model)
    other, optimizer = begun(package, name), OPTIMIZERS[name](package)
    again = tf.train.Checkpoint(model=other, optimizer=optimizer)
    if restored == "before setup":
        # Keras makes the optimizer's variables here, and the checkpoint fills them.
        optimizer.build(other.trainable_variables)
        again.restore(path)
        state = tx.setup(optimizer, other)
    else:
        state = tx.setup(optimizer, other)
        again.restore(path)
    assert int(state.step) == 3
    assert_close(gone_on(other, state), expected)


@pytest.mark.parametrize("optimizer_class", ["Adam", "Adafactor"])
def test_a_checkpoint_goes_on_whose_program_gave_its_variables_in_another_order(
    package: Any, optimizer_class: str, tmp_path: Path
) -> None:
    """Adafactor is stepped by its own update. The model also has a leaf that no step names."""

    def made() -> Any:
        leaves = {name: tf.Variable([1.0, 2.0, 3.0]) for name in ("b", "rest", "a")}
        return leaves, getattr(package.optimizers, optimizer_class)(0.1)

    def trained(leaves: Any, step: Any) -> list[Any]:
        for number in range(3):
            named = [leaves["a"], leaves["b"]]
            step([v * (number - 0.5 + place) for place, v in enumerate(named)], named)
        return [leaf.numpy() for leaf in leaves.values()]

    leaves, optimizer = made()

    def step_by_keras(grads: Any, variables: Any) -> None:
        optimizer.apply_gradients(zip(grads, variables, strict=True))

    trained(leaves, step_by_keras)
    path = tf.train.Checkpoint(optimizer=optimizer, **leaves).save(str(tmp_path / "run"))
    expected = trained(leaves, step_by_keras)

    again, new = made()
    state = tx.setup(new, again, build="at_first_update")
    assert state.paths == []
    with pytest.raises(KeyError, match="at the first update"):
        state["a"]
    tf.train.Checkpoint(optimizer=new, **again).restore(path)
    np.testing.assert_array_equal(
        trained(again, lambda grads, variables: tx.update(state, variables, grads)), expected
    )
    assert state.paths == ["a", "b"]
    assert int(state.step) == int(new.iterations) == 6
    shapes = [[v.shape for v in kept.variables] for kept in (optimizer, new)]
    assert shapes[0] == shapes[1]


def test_averages_and_accumulated_gradients_are_taken_along() -> None:
    def trained(optimizer: Any, leaf: Any, grads: list[float]) -> None:
        for grad in grads:
            optimizer.apply_gradients([(tf.constant([grad]), leaf)])

    for arguments in ({"use_ema": True}, {"gradient_accumulation_steps": 3}):
        leaf = tf.Variable([1.0])
        optimizer = keras.optimizers.Adam(0.1, **arguments)
        optimizer.build([leaf])
        trained(optimizer, leaf, [1.0, 2.0, -0.5, 3.0])
        state = tx.setup(tx.from_keras(optimizer), [leaf])
        tx.load_keras_state(state, optimizer)
        start, rest = leaf.numpy(), [0.5, 1.0, -2.0]
        for grad in rest:
            tx.update(state, [leaf], [tf.constant([grad])])
        ours = leaf.numpy()
        leaf.assign(start)
        trained(optimizer, leaf, rest)
        np.testing.assert_allclose(ours, leaf, rtol=1e-6)
        if "use_ema" in arguments:
            average = optimizer._model_variables_moving_average[0]
            np.testing.assert_allclose(state["0"].slots["ema/average"], average, rtol=1e-6)


def test_what_does_not_fit_is_named_and_nothing_changes() -> None:
    leaf, other = tf.Variable([1.0]), tf.Variable([1.0])
    adam, momentum = keras.optimizers.Adam(0.1), keras.optimizers.SGD(0.1, momentum=0.9)
    for optimizer in (adam, momentum):
        optimizer.build([leaf])
        optimizer.apply_gradients([(tf.constant([1.0]), leaf)])
    wrong = {
        "0: it keeps no velocity": (tx.setup(tx.RMSprop(), [leaf]), momentum),
        "0: the state has no place for its momentum": (tx.setup(tx.SGD(), [leaf]), momentum),
        "0: the optimizer was built on other variables": (tx.setup(tx.Adam(), [other]), adam),
        "has no variables yet": (tx.setup(tx.Adam(), [leaf]), keras.optimizers.Adam()),
    }
    for message, (state, optimizer) in wrong.items():
        with pytest.raises(ValueError, match=message):
            tx.load_keras_state(state, optimizer)
        assert int(state.step) == 0


def test_what_is_no_state_or_optimizer_is_refused() -> None:
    leaf = tf.Variable([1.0])
    optimizer = keras.optimizers.Adam()
    state = tx.setup(tx.Adam(), {"w": leaf})
    with pytest.raises(TypeError, match="expected the state"):
        tx.load_keras_state(optimizer, state)
    with pytest.raises(TypeError, match="the whole state"):
        tx.load_keras_state(state["w"], optimizer)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="expected a Keras optimizer"):
        tx.load_keras_state(state, tx.Adam())
    with pytest.raises(TypeError, match=r"tx\.setup\(optimizer, model\)"):
        tx.load_keras_state(state, keras.optimizers.LossScaleOptimizer(optimizer))
    with pytest.raises(TypeError, match="a Keras optimizer itself"):
        tx.load_keras_state(tx.setup(optimizer, [leaf]), optimizer)
