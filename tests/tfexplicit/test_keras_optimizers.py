"""`setup` takes a Keras optimizer: its variables become the state, or it is adopted as it is."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
import tf_keras

import tfexplicit as tx
from tfexplicit.keras_optimizers.known import rule_of
from tfexplicit.rules import all_rules

GRADS = [[1.0, -2.0], [0.5, 0.5], [-1.0, 3.0]]


class PlainStep(keras.optimizers.Optimizer):
    """A user's own subclass, with Python state of its own."""

    def __init__(self) -> None:
        super().__init__(learning_rate=0.5)
        self.calls = 0

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        self.calls += 1
        self.assign_sub(variable, gradient * tf.cast(learning_rate, variable.dtype) * self.calls)


class OldStep(tf_keras.optimizers.legacy.Optimizer):
    def __init__(self) -> None:
        super().__init__("OldStep")
        self._set_hyper("learning_rate", 0.5)

    def _create_slots(self, var_list: Any) -> None:
        for variable in var_list:
            self.add_slot(variable, "seen")

    def _resource_apply_dense(self, grad: Any, var: Any, apply_state: Any = None) -> Any:
        self.get_slot(var, "seen").assign_add(grad)
        return var.assign_sub(self._get_hyper("learning_rate") * grad)

    def get_config(self) -> dict[str, Any]:
        return {}


def keras_form(rule: type[tx.Rule]) -> Any:
    return getattr(rule, "keras", None)


def schedule() -> Any:
    return tf_keras.optimizers.schedules.InverseTimeDecay(0.1, 1, 0.5)


legacy = tf_keras.optimizers.legacy
ADOPTED: dict[str, Any] = {
    "shared scalar": lambda: keras.optimizers.Nadam(0.1),
    "defect": lambda: keras.optimizers.ScheduleFreeAdamW(0.1),
    "no relative step": lambda: keras.optimizers.Adafactor(0.1, relative_step=False),
    "ema": lambda: keras.optimizers.SGD(
        0.1, use_ema=True, ema_momentum=0.5, ema_overwrite_frequency=2
    ),
    "accumulation": lambda: keras.optimizers.Adam(0.1, gradient_accumulation_steps=2),
    "loss scale": lambda: keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD(0.1)),
    "sgd with weight decay": lambda: keras.optimizers.SGD(0.1, weight_decay=0.1),
    "subclass": PlainStep,
    "tf_keras rmsprop": lambda: tf_keras.optimizers.RMSprop(0.1),
    "tf_keras adaptive epsilon": lambda: tf_keras.optimizers.Adam(0.1, adaptive_epsilon=True),
    "legacy sgd": lambda: legacy.SGD(0.1, momentum=0.9),
    "legacy adam with decay": lambda: legacy.Adam(0.1, decay=0.5),
    "legacy schedule": lambda: legacy.SGD(schedule()),
    "legacy subclass": OldStep,
}
KNOWN: dict[str, tuple[Any, str]] = {
    "sgd": (lambda: keras.optimizers.SGD(0.1), "SGD"),
    "adam": (lambda: keras.optimizers.Adam(0.1), "Adam"),
    "adam with weight decay": (lambda: keras.optimizers.Adam(0.1, weight_decay=0.1), "AdamW"),
    "adamw amsgrad": (lambda: keras.optimizers.AdamW(0.1, amsgrad=True), "AdamW"),
    "clipped": (lambda: keras.optimizers.Adam(0.1, global_clipnorm=1.0), "ClipByGlobalNorm"),
    "callable rate": (lambda: keras.optimizers.SGD(lambda: 0.25), "SGD"),
    "rmsprop": (lambda: keras.optimizers.RMSprop(0.1, centered=True), "RMSprop"),
    "adadelta": (lambda: keras.optimizers.Adadelta(1.0, clipnorm=0.5), "Adadelta"),
    "adagrad": (lambda: keras.optimizers.Adagrad(0.1, initial_accumulator_value=0.2), "Adagrad"),
    "adamax": (lambda: keras.optimizers.Adamax(0.1), "Adamax"),
    "adafactor": (lambda: keras.optimizers.Adafactor(0.1), "Adafactor"),
    "lion": (lambda: keras.optimizers.Lion(0.1), "Lion"),
    "lamb": (lambda: keras.optimizers.Lamb(0.1), "Lamb"),
    "muon": (lambda: keras.optimizers.Muon(0.1, exclude_layers=["bias"]), "Muon"),
    "tf_keras adamax": (lambda: tf_keras.optimizers.Adamax(0.1), "Adamax"),
    "tf_keras adagrad": (lambda: tf_keras.optimizers.Adagrad(0.1), "Adagrad"),
    "tf_keras momentum": (lambda: tf_keras.optimizers.SGD(0.1, 0.9, nesterov=True), "SGD"),
    "tf_keras adam": (lambda: tf_keras.optimizers.Adam(0.1, clipvalue=0.5), "ClipByValue"),
    "by name": (lambda: "adam", "Adam"),
    "by config": (
        lambda: {"class_name": "SGD", "config": {"learning_rate": 0.1, "momentum": 0.9}},
        "SGD",
    ),
}


def train(spec: Any, through_tx: bool, in_function: bool) -> list[np.ndarray]:
    optimizer = (
        spec if not isinstance(spec, str | dict) or through_tx else keras.optimizers.get(spec)
    )
    variable, other = tf.Variable([1.0, 2.0], name="a"), tf.Variable([0.0, 0.0], name="b")
    leaves = [variable, other]
    state = tx.setup(optimizer, leaves) if through_tx else None
    if state is None and hasattr(optimizer, "build"):
        # Some classes of Keras cannot be built inside a `tf.function`.
        optimizer.build(leaves)

    def step(grad: Any) -> None:
        grads = [grad, 2.0 * grad]
        if state is not None:
            tx.update(state, leaves, grads)
        else:
            optimizer.apply_gradients(zip(grads, leaves, strict=True))

    run = tf.function(step) if in_function else step
    for grad in GRADS:
        run(tf.constant(grad))
    return [leaf.numpy() for leaf in leaves]


@pytest.mark.parametrize("in_function", [False, True])
@pytest.mark.parametrize("name", [*ADOPTED, *KNOWN])
def test_training_is_what_the_optimizer_itself_does(name: str, in_function: bool) -> None:
    make = ADOPTED[name] if name in ADOPTED else KNOWN[name][0]
    ours, theirs = train(make(), True, in_function), train(make(), False, in_function)
    bound = 1e-6 if name in ROUNDED_IN_GRAPHS and not in_function else 0
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, b, rtol=bound, atol=bound)


# A graph multiplies by the inverse root where eager Keras divides by the root.
ROUNDED_IN_GRAPHS = {"rmsprop", "adadelta", "adagrad", "tf_keras adagrad"}
WITH_FORM = {form.class_name: form for rule in all_rules.values() if (form := keras_form(rule))}


@pytest.mark.parametrize("name", WITH_FORM)
def test_weight_decay_is_never_lost(name: str) -> None:
    """A rule that has none cannot take over an optimizer that decays."""
    rule = rule_of(getattr(keras.optimizers, name)(0.1, weight_decay=0.25))
    assert (rule is None) == (WITH_FORM[name].with_weight_decay == "")
    assert rule is None or rule.hyperparameters()["weight_decay"] == 0.25


@pytest.mark.parametrize("name", KNOWN)
def test_known_classes_become_rules(name: str) -> None:
    make, shown = KNOWN[name]
    assert shown in repr(tx.setup(make(), [tf.Variable(1.0)]))


@pytest.mark.parametrize("name", ADOPTED)
def test_others_are_adopted_and_say_so(name: str) -> None:
    optimizer = ADOPTED[name]()
    variables = [tf.Variable([1.0])]
    state = tx.setup(optimizer, variables)
    assert f"Keras {type(optimizer).__name__}" in repr(state)
    with pytest.raises(TypeError, match=r"updated: the Keras .* its own update"):
        tx.updated(state, variables, [tf.constant([1.0])])


@pytest.mark.parametrize("package", [keras, tf_keras])
def test_the_optimizers_variables_are_the_state(package: Any) -> None:
    optimizer = package.optimizers.Adam(0.1)
    dense = package.layers.Dense(1, name="dense")
    model = package.Sequential([package.layers.Input((2,)), dense])
    state = tx.setup(optimizer, model)
    tx.update(state, model, [tf.ones(v.shape) for v in model.trainable_variables])
    assert int(optimizer.iterations.numpy()) == int(state.step) == 1
    assert state["dense/kernel"].slots["momentum"] is optimizer._momentums[0]
    np.testing.assert_allclose(optimizer._momentums[0].numpy(), 0.1, rtol=1e-6)
    optimizer.learning_rate = 0.0
    before = model.trainable_variables[0].numpy()
    tx.update(state, model, [tf.ones(v.shape) for v in model.trainable_variables])
    np.testing.assert_array_equal(model.trainable_variables[0].numpy(), before)
    tx.adjust(state, learning_rate=0.25)
    assert float(optimizer.learning_rate.numpy()) == 0.25


@pytest.mark.parametrize(
    "name", ["shared scalar", "tf_keras rmsprop", "legacy sgd", "legacy subclass"]
)
def test_freeze_holds_for_adopted_optimizers_in_traced_functions(name: str) -> None:
    leaves = [tf.Variable([1.0], name="a"), tf.Variable([1.0], name="b")]
    state = tx.setup(ADOPTED[name](), leaves)
    step = tf.function(lambda: tx.update(state, leaves, [tf.ones(1), tf.ones(1)]) and None)
    step()
    tx.freeze(state["0"])
    kept = [leaves[0].numpy(), *(slot.numpy() for slot in state["0"].slots.values())]
    moved = leaves[1].numpy()
    step()
    assert len(kept) > 1
    for cell, value in zip([leaves[0], *state["0"].slots.values()], kept, strict=True):
        np.testing.assert_array_equal(cell, value)
    assert leaves[1].numpy() != moved


def test_an_optimizer_that_has_trained_goes_on_where_it_was() -> None:
    leaves = [tf.Variable([1.0, 2.0])]
    twin = [tf.Variable([1.0, 2.0])]
    used, other = keras.optimizers.Adam(0.1), keras.optimizers.Adam(0.1)
    for optimizer, variables in ((used, leaves), (other, twin)):
        optimizer.apply_gradients([(tf.constant([1.0, -1.0]), variables[0])])
    state = tx.setup(used, leaves)
    tx.update(state, leaves, [tf.constant([0.3, 0.1])])
    other.apply_gradients([(tf.constant([0.3, 0.1]), twin[0])])
    np.testing.assert_array_equal(leaves[0], twin[0])


@pytest.mark.parametrize("optimizer", [keras.optimizers.Adam(), tf_keras.optimizers.RMSprop()])
def test_an_optimizer_built_on_other_variables_is_refused(optimizer: Any) -> None:
    optimizer.build([tf.Variable(1.0)])
    with pytest.raises(ValueError, match=r"built on other variables.*tx\.setup\(optimizer, \("):
        tx.setup(optimizer, [tf.Variable(1.0)])


def test_one_optimizer_over_several_models_shares_its_count() -> None:
    critic, policy = ([tf.Variable([1.0])] for _ in range(2))
    optimizer = keras.optimizers.Adam(0.1)
    state = tx.setup(optimizer, (critic, policy))
    twin = keras.optimizers.Adam(0.1)
    twins = [tf.Variable([1.0]), tf.Variable([1.0])]
    twin.build(twins)
    for _ in range(3):
        tx.update(state, critic, [tf.ones(1)])
        tx.update(state, policy, [tf.ones(1)])
        twin.apply_gradients([(tf.ones(1), twins[0])])
        twin.apply_gradients([(tf.ones(1), twins[1])])
    np.testing.assert_array_equal(critic[0], twins[0])
    np.testing.assert_array_equal(policy[0], twins[1])
    assert int(optimizer.iterations.numpy()) == 6


def test_keras_optimizers_in_a_mapping_give_their_rule() -> None:
    model = {"encoder": tf.Variable(1.0), "head": tf.Variable(1.0)}
    spec = {"encoder": keras.optimizers.SGD(0.5), "**": "sgd"}
    tx.update(tx.setup(spec, model), model, {"encoder": tf.ones([]), "head": tf.ones([])})
    np.testing.assert_allclose([float(leaf) for leaf in model.values()], [0.5, 0.99])
    with pytest.raises(TypeError, match="Nadam for 'head' has an update of its own"):
        tx.setup({"encoder": tx.SGD(), "head": keras.optimizers.Nadam()}, model)
    with pytest.raises(ValueError, match=r"no rule for 'head'.*\"\*\*\""):
        tx.setup({"encoder": tx.SGD()}, model)


def test_weight_decay_exclusions_are_kept() -> None:
    def trained(through_tx: bool) -> list[float]:
        leaves = [tf.Variable(1.0, name="kernel"), tf.Variable(1.0, name="bias")]
        optimizer = keras.optimizers.AdamW(0.1, weight_decay=0.5)
        optimizer.exclude_from_weight_decay(var_names=["bias"])
        if through_tx:
            tx.update(tx.setup(optimizer, leaves), leaves, [tf.zeros([]), tf.zeros([])])
        else:
            optimizer.apply([tf.zeros([]), tf.zeros([])], leaves)
        return [float(leaf) for leaf in leaves]

    assert trained(True) == trained(False)


@pytest.mark.parametrize("make", [legacy.Adam, OldStep], ids=["adam", "subclass"])
def test_adjust_sets_the_learning_rate_of_a_legacy_optimizer(make: Any) -> None:
    optimizer, variable = make(), tf.Variable(1.0)
    state = tx.setup(optimizer, [variable])
    tx.adjust(state, learning_rate=0.0)
    tx.update(state, [variable], [tf.constant(1.0)])
    assert float(variable) == 1.0
    assert float(optimizer.learning_rate) == 0.0


@pytest.mark.parametrize("mixed", [keras.optimizers, tf_keras.mixed_precision])
def test_an_optimizer_that_scales_the_loss_counts_by_the_one_inside(mixed: Any) -> None:
    package = keras if mixed is keras.optimizers else tf_keras
    optimizer = mixed.LossScaleOptimizer(package.optimizers.SGD(0.1))
    variable = tf.Variable([1.0])
    state = tx.setup(optimizer, [variable])
    for _ in range(3):
        tx.update(state, [variable], [tf.ones(1)])
    assert int(state.step) == int(optimizer.iterations) == 3
