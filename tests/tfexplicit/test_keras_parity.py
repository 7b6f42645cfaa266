"""Each rule trains as Keras' own optimizer: 200 steps, with each clip and with a schedule."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import keras
import pytest
import tensorflow as tf
import tf_keras

import tfexplicit as tx

BOUND = {"float32": 1e-5, "float64": 1e-12}

# Keras rounds momentum, betas and decay to float32, also for float64 leaves, where a rule is exact.
# These numbers are the same either way.
MOMENTUM, BETA_2, DECAY = 0.875, 1 - 2.0**-10, 3 / 64
BETAS = {"beta_1": MOMENTUM, "beta_2": BETA_2}

RULES: dict[str, tuple[str, dict[str, Any]]] = {
    "sgd": ("SGD", {"learning_rate": 0.01}),
    "momentum": ("SGD", {"learning_rate": 0.003, "momentum": MOMENTUM}),
    "nesterov": ("SGD", {"learning_rate": 0.003, "momentum": MOMENTUM, "nesterov": True}),
    "adam": ("Adam", {"learning_rate": 0.01, **BETAS}),
    "amsgrad": (
        "Adam",
        {"learning_rate": 0.01, "amsgrad": True, "beta_1": MOMENTUM, "beta_2": 0.5},
    ),
    "adamw": ("AdamW", {"learning_rate": 0.01, "weight_decay": DECAY, **BETAS}),
}
CLIPS: dict[str, dict[str, float]] = {
    "plain": {},
    "clipvalue": {"clipvalue": 0.5},
    "clipnorm": {"clipnorm": 0.8},
    "global_clipnorm": {"global_clipnorm": 1.0},
}
CLIP_RULES = {
    "clipvalue": tx.ClipByValue,
    "clipnorm": tx.ClipByNorm,
    "global_clipnorm": tx.ClipByGlobalNorm,
}


@pytest.fixture(params=["float32", "float64"])
def dtype(request: pytest.FixtureRequest) -> Iterator[str]:
    for package in (keras.config, tf_keras.backend):
        package.set_floatx(request.param)
    yield request.param
    for package in (keras.config, tf_keras.backend):
        package.set_floatx("float32")


def our_rule(name: str, clip: str, **changes: Any) -> tx.Rule:
    class_name, arguments = RULES[name]
    rule = getattr(tx, class_name)(**{**arguments, **changes})
    clips = [CLIP_RULES[key](limit) for key, limit in CLIPS[clip].items()]
    return tx.Chain(*clips, rule) if clips else rule


def keras_optimizer(package: Any, name: str, clip: str, **changes: Any) -> Any:
    class_name, arguments = RULES[name]
    chosen = getattr(package.optimizers, class_name)
    return chosen(**{**arguments, **CLIPS[clip], **changes})


def train_keras(net: Any, optimizer: Any) -> list[Any]:
    weights = net.variables()
    optimizer.build(weights)
    return net.train_with(
        weights, lambda grads: optimizer.apply_gradients(zip(grads, weights, strict=True))
    )


def train_in_place(net: Any, rule: Any) -> list[Any]:
    weights = net.variables()
    state = tx.setup(rule, weights)
    return net.train_with(weights, lambda grads: tx.update(state, weights, grads))


def train_pure(net: Any, rule: Any) -> list[Any]:
    values: Any = [tf.constant(value) for value in net.start]
    state: Any = tx.setup(rule, values)
    gradient = tf.function(tx.grad(net.loss))
    for _ in range(200):
        state, values = tx.updated(state, values, gradient(values))
    return [value.numpy() for value in values]


@pytest.mark.parametrize("clip", CLIPS)
@pytest.mark.parametrize("name", RULES)
def test_rule_trains_as_keras(
    name: str, clip: str, dtype: str, network: Any, relative_difference: Callable[..., float]
) -> None:
    net = network(dtype)
    in_place = train_in_place(net, our_rule(name, clip))
    for package in (keras, tf_keras):
        theirs = train_keras(net, keras_optimizer(package, name, clip))
        taken_over = train_in_place(net, keras_optimizer(package, name, clip))
        differences = [relative_difference(weights, theirs) for weights in (in_place, taken_over)]
        print(f"parity {package.__name__} {name} {clip} {dtype}: {differences}")
        assert max(differences) < BOUND[dtype]


@pytest.mark.parametrize("clip", ["plain", "global_clipnorm"])
@pytest.mark.parametrize("name", RULES)
def test_update_and_updated_agree(
    name: str, clip: str, dtype: str, network: Any, relative_difference: Callable[..., float]
) -> None:
    net = network(dtype)
    in_place = train_in_place(net, our_rule(name, clip))
    pure = train_pure(net, our_rule(name, clip))
    assert relative_difference(pure, in_place) < BOUND[dtype]


@pytest.mark.parametrize("name", RULES)
def test_rule_trains_as_keras_with_a_schedule(
    name: str, dtype: str, network: Any, relative_difference: Callable[..., float]
) -> None:
    net = network(dtype)
    schedule = keras.optimizers.schedules.ExponentialDecay(0.01, 50, 0.5)
    changes = {"learning_rate": schedule}
    theirs = train_keras(net, keras_optimizer(keras, name, "plain", **changes))
    in_place = train_in_place(net, our_rule(name, "plain", **changes))
    taken_over = train_in_place(net, keras_optimizer(keras, name, "plain", **changes))
    assert relative_difference(in_place, theirs) < BOUND[dtype]
    assert relative_difference(taken_over, theirs) < BOUND[dtype]


def test_tf_keras_schedule_keeps_the_learning_rate_that_programs_read(network: Any) -> None:
    net = network("float32")
    optimizer = tf_keras.optimizers.SGD(
        tf_keras.optimizers.schedules.ExponentialDecay(0.01, 2, 0.5)
    )
    twin = tf_keras.optimizers.SGD(tf_keras.optimizers.schedules.ExponentialDecay(0.01, 2, 0.5))
    weights = net.variables()
    state = tx.setup(optimizer, weights)
    net.train_with(weights, lambda grads: tx.update(state, weights, grads), steps=3)
    train_keras_steps = net.variables()
    twin.build(train_keras_steps)
    net.train_with(
        train_keras_steps,
        lambda grads: twin.apply_gradients(zip(grads, train_keras_steps, strict=True)),
        steps=3,
    )
    assert float(optimizer.learning_rate) == float(twin.learning_rate)
    assert int(optimizer.iterations.numpy()) == 3
