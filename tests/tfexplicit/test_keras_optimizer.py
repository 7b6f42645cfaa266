"""`KerasOptimizer`: `compile`, `fit`, its callbacks and `.keras` files with a rule."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

import tfexplicit as tx

rng = np.random.default_rng(0)
X = rng.normal(size=(16, 3)).astype("float32")
Y = rng.normal(size=(16, 1)).astype("float32")


def model(optimizer: Any) -> Any:
    keras.utils.set_random_seed(1)
    net = keras.Sequential(
        [keras.layers.Input((3,)), keras.layers.Dense(4, "tanh"), keras.layers.Dense(1)]
    )
    net.compile(optimizer, loss="mse")
    return net


def fit(net: Any, epochs: int = 2, **arguments: Any) -> Any:
    return net.fit(X, Y, batch_size=4, epochs=epochs, shuffle=False, verbose=0, **arguments)


def assert_same_weights(ours: Any, theirs: Any, bound: float = 1e-5) -> None:
    for a, b in zip(ours.get_weights(), theirs.get_weights(), strict=True):
        np.testing.assert_allclose(a, b, rtol=bound, atol=bound)


def test_fit_trains_as_with_the_optimizer_of_keras() -> None:
    ours = model(tx.KerasOptimizer(tx.Chain(tx.ClipByNorm(0.5), tx.Adam(0.01))))
    theirs = model(keras.optimizers.Adam(0.01, clipnorm=0.5))
    histories = [fit(net).history["loss"] for net in (ours, theirs)]
    np.testing.assert_allclose(*histories, rtol=1e-5)
    assert_same_weights(ours, theirs)
    assert int(ours.optimizer.iterations) == 8


def test_learning_rate_callbacks_reach_the_traced_step() -> None:
    def schedule(epoch: int, rate: float) -> float:
        return float(rate * 0.5)

    nets = [model(tx.KerasOptimizer(tx.SGD(0.1))), model(keras.optimizers.SGD(0.1))]
    for net in nets:
        fit(net, 3, callbacks=[keras.callbacks.LearningRateScheduler(schedule)])
        plateau = keras.callbacks.ReduceLROnPlateau("loss", factor=0.1, patience=1, min_delta=9.0)
        fit(net, 3, callbacks=[plateau])
    assert_same_weights(*nets)
    rates = [float(net.optimizer.learning_rate) for net in nets]
    assert rates[0] == pytest.approx(rates[1], rel=1e-6)
    assert rates[0] < 0.01


def test_a_learning_rate_set_before_the_model_is_built() -> None:
    optimizer = tx.KerasOptimizer(tx.SGD(0.1))
    optimizer.learning_rate = 0.5
    net = model(optimizer)
    fit(net, 1)
    assert float(optimizer.learning_rate) == 0.5


@pytest.mark.parametrize(
    "rule",
    [
        tx.Adam(0.01),
        tx.Chain(
            tx.AccumulateGrads(2),
            tx.ClipByGlobalNorm(0.5),
            main=tx.AdamW(keras.optimizers.schedules.ExponentialDecay(0.1, 5, 0.5), amsgrad=True),
            average=tx.EMA(0.9),
        ),
        tx.MixedPrecision(tx.Adam(tx.Warmup(0.01, 5)), dtype="float64"),
        tx.Partition({"**/bias": tx.SGD(0.1), "**": tx.Adam(0.01)}),
    ],
    ids=repr,
)
def test_a_saved_model_goes_on_where_it_was(rule: tx.Rule, tmp_path: Path) -> None:
    net = model(tx.KerasOptimizer(rule))
    checkpoint = keras.callbacks.ModelCheckpoint(str(tmp_path / "net.keras"))
    fit(net, 1, callbacks=[checkpoint])
    loaded = keras.models.load_model(tmp_path / "net.keras")
    assert repr(loaded.optimizer.rule) == repr(rule)
    # Keras gives the variables of a loaded model other paths.
    states = [each.optimizer.opt_state for each in (loaded, net)]
    for one, other in zip(*(state.cells() for state in states), strict=True):
        assert np.array_equal(one.numpy(), other.numpy(), equal_nan=one.dtype.is_floating)
    fit(net, 1)
    fit(loaded, 1)
    assert_same_weights(loaded, net, bound=1e-6)


def test_a_checkpoint_is_restored_in_a_model_with_other_automatic_names(tmp_path: Path) -> None:
    nets = [model(tx.KerasOptimizer(tx.Adam(0.01))) for _ in range(2)]
    for net in nets:
        net.optimizer.build(net.trainable_variables)
    fit(nets[0], 1)
    nets[0].optimizer.learning_rate = 0.5
    saved = [tf.train.Checkpoint(model=net, optimizer=net.optimizer) for net in nets]
    path = saved[0].save(str(tmp_path / "checkpoint"))
    saved[1].restore(path).assert_existing_objects_matched()
    states = [net.optimizer.opt_state for net in nets]
    for one, other in zip(*(state.cells() for state in states), strict=True):
        np.testing.assert_array_equal(one.numpy(), other.numpy())
    assert float(nets[1].optimizer.learning_rate) == 0.5


def test_the_state_is_at_hand() -> None:
    net = model(tx.KerasOptimizer(tx.Chain(tx.Adam(0.01), tx.EMA(0.9))))
    fit(net, 1)
    kernel = net.layers[0].kernel
    tx.freeze(net.optimizer.opt_state, kernel.path)
    before = kernel.numpy()
    fit(net, 1)
    assert np.array_equal(kernel.numpy(), before)


def test_mixed_float16_scales_the_loss_around_it() -> None:
    policy = keras.config.dtype_policy()
    keras.config.set_dtype_policy("mixed_float16")
    try:
        net = model(tx.KerasOptimizer(tx.SGD(0.01)))
        before = net.get_weights()
        fit(net, 1)
    finally:
        keras.config.set_dtype_policy(policy)
    assert any(np.any(a != b) for a, b in zip(net.get_weights(), before, strict=True))


def test_a_loss_scale_in_the_rule_scales_the_loss() -> None:
    ours = model(tx.KerasOptimizer(tx.Chain(tx.LossScale(8.0), tx.SGD(0.1))))
    ours.optimizer.build(ours.trainable_variables)
    theirs = model(keras.optimizers.SGD(0.1))
    for net in (ours, theirs):
        fit(net, 1)
    assert_same_weights(ours, theirs)
    with pytest.raises(ValueError, match=r"call optimizer\.build"):
        fit(model(tx.KerasOptimizer(tx.Chain(tx.LossScale(8.0), tx.SGD(0.1)))))


def test_what_it_refuses() -> None:
    with pytest.raises(TypeError, match="expected a rule"):
        tx.KerasOptimizer(keras.optimizers.Adam())  # type: ignore[arg-type]
    optimizer = tx.KerasOptimizer(tx.Adam())
    with pytest.raises(ValueError, match="no state yet"):
        optimizer.apply([tf.ones([2])])
    net = model(tx.KerasOptimizer(tx.Adam(lambda step: 0.1)))
    with pytest.raises(TypeError, match=r"Adam: `learning_rate` is a function, which cannot"):
        net.optimizer.get_config()


def test_a_file_of_another_rule_is_not_loaded_in_silence(tmp_path: Path) -> None:
    net = model(tx.KerasOptimizer(tx.Adam()))
    fit(net, 1)
    store: dict[str, Any] = {}
    net.optimizer.save_own_variables(store)
    other = model(tx.KerasOptimizer(tx.SGD()))
    fit(other, 1)
    with pytest.raises(ValueError, match="not those of SGD"):
        other.optimizer.load_own_variables(store)
