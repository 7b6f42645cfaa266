"""A state kept on a model changes nothing about the model, and checkpoints save it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
import tf_keras

import tfexplicit as tx


class Net(tf.Module):
    def __init__(self) -> None:
        super().__init__()
        self.w = tf.Variable([1.0, 2.0])


class KerasNet(keras.Model):
    def __init__(self) -> None:
        super().__init__()
        self.dense = keras.layers.Dense(2)

    def call(self, x: Any) -> Any:
        return self.dense(x)


class TfKerasNet(tf_keras.Model):
    def __init__(self) -> None:
        super().__init__()
        self.dense = tf_keras.layers.Dense(2)

    def call(self, x: Any) -> Any:
        return self.dense(x)


def sequential() -> Any:
    return keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(2)])


def listing(model: Any) -> dict[str, Any]:
    names = ("variables", "trainable_variables", "non_trainable_variables", "weights", "layers")
    return {name: [id(item) for item in getattr(model, name, ())] for name in names}


@pytest.mark.parametrize("rule", [tx.Adam(0.1), "keras", "adopted"])
@pytest.mark.parametrize("make", [Net, KerasNet, TfKerasNet, sequential, keras.layers.Dense])
def test_a_state_kept_on_a_model_is_not_seen_as_a_part_of_it(
    make: Any, rule: Any, tmp_path: Path
) -> None:
    model = make(2) if make is keras.layers.Dense else make()
    if callable(model):
        model(tf.ones([1, 3]))
    spec = {"keras": keras.optimizers.Adam(0.1), "adopted": keras.optimizers.Nadam(0.1)}
    before = listing(model)
    state = tx.setup(spec.get(rule, rule) if isinstance(rule, str) else rule, model)
    model.opt_state = state
    assert model.opt_state is state
    assert listing(model) == before
    tx.update(state, model, [tf.ones(v.shape) for v in model.trainable_variables])
    assert listing(model) == before
    if hasattr(model, "save_weights"):
        file = tmp_path / ("w.h5" if make is TfKerasNet else "w.weights.h5")
        model.save_weights(file)
        model.load_weights(file)
    checkpoint = tf.train.Checkpoint(model=model)
    path = checkpoint.save(str(tmp_path / "kept"))
    saved = [name for name, _ in tf.train.list_variables(path)]
    assert any("opt_state" in name and "slots" in name for name in saved)


@pytest.mark.parametrize("in_function", [False, True])
@pytest.mark.parametrize("built", [True, False])
def test_a_checkpoint_restores_a_run_in_progress(
    built: bool, in_function: bool, tmp_path: Path
) -> None:
    def fresh() -> tuple[Any, tx.OptState, Any]:
        model = KerasNet()
        if built:
            model(tf.ones([1, 3]))
        state = tx.setup(tx.Chain(tx.ClipByNorm(5.0), tx.Adam(0.1)), model)
        model(tf.ones([1, 3]))

        def step() -> None:
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(model(tf.ones([1, 3])) ** 2)
            tx.update(state, model, tape.gradient(loss, tx.trainables(model)))

        return model, state, tf.function(step) if in_function else step

    model, state, step = fresh()
    step()
    tx.adjust(state, learning_rate=0.01)
    tx.freeze(state["dense/bias"])
    step()
    path = tf.train.Checkpoint(model=model, state=state).save(str(tmp_path / "run"))
    other, other_state, other_step = fresh()
    # If the model was not built at setup, slots are filled when the first update makes them.
    status = tf.train.Checkpoint(model=other, state=other_state).restore(path)
    assert int(other_state.step) == 2
    step()
    other_step()
    status.assert_consumed()
    for ours, theirs in zip(model.trainable_variables, other.trainable_variables, strict=True):
        np.testing.assert_array_equal(ours.numpy(), theirs.numpy())


def test_a_checkpoint_written_in_the_background_is_of_the_time_it_was_asked_for(
    tmp_path: Path,
) -> None:
    model, other = ({"b": tf.Variable([1.0]), "a": tf.Variable([2.0, 3.0])} for _ in range(2))
    state, restored = tx.setup(tx.Adam(0.1), model), tx.setup(tx.Adam(0.1), other)
    checkpoint = tf.train.Checkpoint(state=state)
    options = tf.train.CheckpointOptions(enable_async=True)
    for path in ("b", "a"):
        tx.freeze(state[path])
        numbers = tx.state_dict(state)
        saved = checkpoint.save(str(tmp_path / "background"), options=options)
        tx.thaw(state)
        tx.update(state, model, [tf.ones([1]), tf.ones([2])])
    checkpoint.sync()
    tf.train.Checkpoint(state=restored).restore(saved).assert_existing_objects_matched()
    np.testing.assert_equal(tx.state_dict(restored), numbers)


def test_a_saved_model_may_train(tmp_path: Path) -> None:
    class Trained(Net):
        @tf.function(input_signature=[tf.TensorSpec([2])])
        def step(self, grad: Any) -> Any:
            tx.update(self.opt_state, self, [grad])
            return self.w + 0.0

    net = Trained()
    net.opt_state = tx.setup(tx.Adam(0.1), net)
    net.step(tf.ones([2]))
    tf.saved_model.save(net, str(tmp_path / "saved"))
    loaded = tf.saved_model.load(str(tmp_path / "saved"))
    for _ in range(2):
        np.testing.assert_array_equal(loaded.step(tf.ones([2])), net.step(tf.ones([2])))


@pytest.mark.filterwarnings("ignore:Skipping variable loading for optimizer")
@pytest.mark.parametrize("package", [keras, tf_keras])
def test_a_model_with_its_own_compile_goes_on_as_without(package: Any, tmp_path: Path) -> None:
    """As the guide says it of TX108: from a model saved whole, and from weights alone."""

    class Implicit(package.Model):  # type: ignore[misc, name-defined]
        def train_step(self, data: Any) -> dict[str, Any]:
            x, y = data
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.square(self(x) - y))
            grads = tape.gradient(loss, self.trainable_variables)
            self.step_with(grads)
            return {"loss": loss}

        def step_with(self, grads: Any) -> None:
            self.optimizer.apply_gradients(zip(grads, self.trainable_variables, strict=True))

    class Explicit(Implicit):
        build_state: Any = "now"

        def step_with(self, grads: Any) -> None:
            tx.update(self.opt_state, self, grads)

        def compile(self, *args: Any, **kwargs: Any) -> None:
            super().compile(*args, **kwargs)
            self.opt_state = tx.setup(self.optimizer, self, build=self.build_state)

        def compile_from_config(self, config: Any) -> None:
            self.compile(**package.saving.deserialize_keras_object(config))

    class Late(Explicit):
        build_state = "at_first_update"

    def made(kind: Any) -> Any:
        package.utils.set_random_seed(1)
        inputs = package.Input((3,))
        model = kind(inputs, package.layers.Dense(1)(inputs))
        model.compile("adam")
        return model

    def trained(model: Any) -> list[Any]:
        model.fit(np.ones((8, 3), "float32"), np.ones((8, 1), "float32"), epochs=1, verbose=0)
        return [int(model.optimizer.iterations), *model.get_weights()]

    def goes_on_whole(kind: Any) -> list[Any]:
        model = made(kind)
        trained(model)
        file = str(tmp_path / f"{kind.__name__}.keras")
        model.save(file)
        return trained(package.models.load_model(file, custom_objects={kind.__name__: kind}))

    def goes_on_with_weights(kind: Any) -> list[Any]:
        model, again = made(kind), made(kind)
        trained(model)
        model.save_weights(str(tmp_path / "a.weights.h5"))
        again.load_weights(str(tmp_path / "a.weights.h5"))
        return trained(again)

    for goes_on, kind in ((goes_on_whole, Explicit), (goes_on_with_weights, Late)):
        for old, new in zip(goes_on(Implicit), goes_on(kind), strict=True):
            np.testing.assert_allclose(new, old, rtol=1e-6)
