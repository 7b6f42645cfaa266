"""Freezing and adjusting, also in functions traced before."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

import tfexplicit as tx


class Traced:
    """A step traced once; counts its traces."""

    def __init__(self, rule: Any, jit_compile: bool = False) -> None:
        self.traces = 0
        self.model = {"encoder": {"w": tf.Variable([1.0, 1.0])}, "head": tf.Variable([1.0])}
        self.state = tx.setup(rule, self.model)

        @tf.function(jit_compile=jit_compile)
        def step(scale: Any) -> None:
            self.traces += 1
            grads = {"encoder": {"w": scale * tf.ones(2)}, "head": scale * tf.ones(1)}
            tx.update(self.state, self.model, grads)

        self.step = lambda: step(tf.constant(1.0))

    def values(self) -> dict[str, np.ndarray]:
        slots = {
            f"{path}:{name}": slot.numpy()
            for path in self.state.paths
            for name, slot in self.state[path].slots.items()
        }
        return {path: leaf.numpy() for path, leaf in tx.trainables(self.model, path=True)} | slots


@pytest.fixture(params=[False, True], ids=["graph", "xla"])
def jit_compile(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@pytest.mark.parametrize("part", ["subtree", "glob"])
def test_freeze_reaches_a_function_traced_before(part: str, jit_compile: bool) -> None:
    traced = Traced(tx.Adam(0.1), jit_compile)
    traced.step()
    before = traced.values()
    if part == "subtree":
        tx.freeze(traced.state["encoder"])
    else:
        tx.freeze(traced.state, "encoder/**")
    traced.step()
    after = traced.values()
    for name, value in before.items():
        moved = not np.array_equal(after[name], value)
        assert moved == name.startswith("head"), name
    tx.thaw(traced.state)
    traced.step()
    assert not np.array_equal(traced.values()["encoder/w"], before["encoder/w"])
    assert traced.traces == 1


def test_a_frozen_leaf_does_not_count_the_steps_it_rests(jit_compile: bool) -> None:
    traced, twin = Traced(tx.Adam(0.1), jit_compile), Traced(tx.Adam(0.1), jit_compile)
    traced.step()
    tx.freeze(traced.state["encoder/w"])
    for _ in range(5):
        traced.step()
    tx.thaw(traced.state["encoder/w"])
    traced.step()
    twin.step()
    twin.step()
    np.testing.assert_array_equal(traced.values()["encoder/w"], twin.values()["encoder/w"])


def test_adjust_reaches_a_function_traced_before(jit_compile: bool) -> None:
    traced = Traced(tx.Chain(tx.ClipByValue(0.5), tx.SGD(1.0)), jit_compile)
    traced.step()
    np.testing.assert_array_equal(traced.values()["head"], [0.5])
    tx.adjust(traced.state["head"], learning_rate=0.5)
    traced.step()
    np.testing.assert_array_equal(traced.values()["head"], [0.25])
    np.testing.assert_array_equal(traced.values()["encoder/w"], [0.0, 0.0])
    tx.adjust(traced.state, clipvalue=0.25, learning_rate=tf.constant(1.0))
    traced.step()
    np.testing.assert_array_equal(traced.values()["head"], [0.0])
    np.testing.assert_array_equal(traced.values()["encoder/w"], [-0.25, -0.25])
    assert traced.traces == 1


@pytest.mark.parametrize(
    "source",
    [
        keras.optimizers.schedules.PiecewiseConstantDecay([0], [1.0, 0.5]),
        lambda step: tf.where(step > 0, 0.5, 1.0),
    ],
    ids=["keras schedule", "function"],
)
def test_a_schedule_is_followed_and_a_number_replaces_it(source: Any) -> None:
    traced = Traced(tx.SGD(source))
    traced.step()
    traced.step()
    np.testing.assert_array_equal(traced.values()["head"], [-0.5])
    tx.adjust(traced.state["head"], learning_rate=0.25)
    traced.step()
    np.testing.assert_array_equal(traced.values()["head"], [-0.75])
    np.testing.assert_array_equal(traced.values()["encoder/w"], [-1.0, -1.0])
    assert traced.traces == 1


def test_a_variable_is_read_at_every_step(jit_compile: bool) -> None:
    rate = tf.Variable(1.0)
    traced = Traced(tx.SGD(rate), jit_compile)
    traced.step()
    rate.assign(0.5)
    traced.step()
    np.testing.assert_array_equal(traced.values()["head"], [-0.5])


def test_an_eager_schedule_may_use_python_and_read_anything() -> None:
    settings = {"rate": 1.0}
    variable = tf.Variable(0.0)
    state = tx.setup(tx.SGD(lambda step: settings["rate"] if step < 2 else 0.0), [variable])
    tx.update(state, [variable], [tf.constant(1.0)])
    settings["rate"] = 0.5
    tx.update(state, [variable], [tf.constant(1.0)])
    tx.update(state, [variable], [tf.constant(1.0)])
    assert float(variable) == -1.5


def test_freezing_and_adjusting_do_not_compile_an_eager_step_again() -> None:
    variable = tf.Variable([1.0])
    state = tx.setup(tx.Adam(0.1), [variable])
    for change in (
        lambda: None,
        lambda: tx.freeze(state),
        lambda: tx.thaw(state),
        lambda: tx.adjust(state, learning_rate=0.5, beta_1=0.5),
    ):
        change()
        tx.update(state, [variable], [tf.constant([1.0])])
    (compiled,) = state.plan.compiled.values()
    assert compiled.experimental_get_tracing_count() == 1


def test_adjusted_leaves_the_state_as_it_is() -> None:
    variable = tf.Variable([1.0])
    state = tx.setup(tx.SGD(1.0), [variable])
    slower = tx.adjusted(state, learning_rate=0.5)
    assert float(tx.updated(slower, [variable], [tf.constant([1.0])])[1][0][0]) == 0.5
    assert float(tx.updated(state, [variable], [tf.constant([1.0])])[1][0][0]) == 0.0
    assert float(variable[0]) == 1.0


def test_a_learning_rate_per_layer() -> None:
    model = {"encoder": tf.Variable(1.0), "head": tf.Variable(1.0)}
    grads = {"encoder": tf.constant(1.0), "head": tf.constant(1.0)}
    for rule in (
        {"encoder": tx.SGD(0.5), "**": tx.SGD(1.0)},
        lambda path, leaf: tx.SGD(0.5 if path == "encoder" else 1.0),
    ):
        for leaf in model.values():
            leaf.assign(1.0)
        tx.update(tx.setup(rule, model), model, grads)
        assert (float(model["encoder"]), float(model["head"])) == (0.5, 0.0)


def test_a_part_of_the_state_updates_a_part_of_the_model() -> None:
    model = {"encoder": {"w": tf.constant(1.0)}, "head": tf.constant(1.0)}
    state = tx.setup(tx.SGD(0.5, momentum=0.9), model)
    part, encoder = tx.update(state["encoder"], model["encoder"], {"w": tf.constant(1.0)})
    assert float(encoder["w"]) == 0.5
    assert float(part["w"].slots["momentum"]) == -0.5
    assert float(state["head"].slots["momentum"]) == 0.0
    assert int(state.step) == 1


def test_the_state_prints_as_a_table() -> None:
    traced = Traced(tx.Adam(0.1))
    tx.freeze(traced.state["head"])
    printed = repr(traced.state)
    assert "step=0, 2 leaves, slots 24 B" in printed
    assert "Adam(learning_rate=0.1)" in printed
    (line,) = [line for line in printed.splitlines() if "encoder/w" in line]
    assert line.split() == ["encoder/w", "(2,)", "float32", "momentum", "velocity"]
    assert "(frozen)" in next(line for line in printed.splitlines() if "head" in line)


def refused() -> dict[str, tuple[Any, type[Exception], str]]:
    model = {"encoder": tf.Variable(1.0), "head": tf.Variable(1.0)}
    state = tx.setup(tx.Adam(0.1), model)
    keras_model = keras.Sequential([keras.layers.Input((1,)), keras.layers.Dense(1)])
    return {
        "freeze a model": (
            lambda: tx.freeze(keras_model),
            TypeError,
            r"freeze: expected the state.*got the model.*tx\.setup\(optimizer, model\)",
        ),
        "thaw a dict": (lambda: tx.thaw(model), TypeError, "thaw: expected the state"),
        "freeze a rule": (lambda: tx.freeze(tx.SGD()), TypeError, "got SGD"),
        "freeze nothing": (
            lambda: tx.freeze(state, "encodr/**"),
            KeyError,
            "no leaf matches 'encodr/.*'encoder'",
        ),
        "unknown part": (lambda: state["encodr"], KeyError, "'encodr'.*'encoder'"),
        "unknown hyperparameter": (
            lambda: tx.adjust(state, learning_rat=0.1),
            ValueError,
            "'learning_rat'.*'learning_rate'",
        ),
        "momentum without a slot": (
            lambda: tx.adjust(tx.setup(tx.SGD(0.1), model), momentum=0.9),
            ValueError,
            "no rule here has a hyperparameter 'momentum'",
        ),
        "negative": (
            lambda: tx.adjust(state, learning_rate=-1.0),
            ValueError,
            "`learning_rate` must be at least 0, got -1.0",
        ),
        "no number": (lambda: tx.adjust(state, learning_rate="x"), TypeError, "must be a number"),
        "nothing to set": (lambda: tx.adjust(state), TypeError, "nothing to set"),
        "adjust a model": (lambda: tx.adjust(model, learning_rate=1.0), TypeError, "the state"),
        "slots of many": (lambda: state[""].slots, ValueError, "2 leaves; take one"),
    }


@pytest.mark.parametrize("case", refused())
def test_wrong_changes_are_refused(case: str) -> None:
    action, error, message = refused()[case]
    with pytest.raises(error, match=message):
        action()


@pytest.mark.parametrize("in_function", [False, True], ids=["eager", "function"])
def test_a_function_of_nothing_is_a_learning_rate_as_in_keras(in_function: bool) -> None:
    rate, variable = tf.Variable(0.5), tf.Variable(1.0)
    state = tx.setup(tx.SGD(lambda: rate), [variable])

    def step() -> None:
        tx.update(state, [variable], [tf.constant(1.0)])

    step = tf.function(step) if in_function else step
    step()
    rate.assign(0.25)
    step()
    assert float(variable) == 0.25


def test_a_single_array_is_stepped_by_its_part_of_the_state() -> None:
    model = {"encoder": {"w": tf.ones(2)}, "head": tf.ones(2)}
    state = tx.setup(tx.SGD(0.5), model)
    _, new = tx.update(state["encoder"]["w"], model["encoder"]["w"], tf.ones(2))
    np.testing.assert_array_equal(new, [0.5, 0.5])


def test_a_frozen_leaf_adds_nothing_to_the_global_norm() -> None:
    model = [tf.Variable([1.0]), tf.Variable([4.0])]
    state = tx.setup(tx.Chain(tx.ClipByGlobalNorm(1.0), tx.SGD(1.0)), model)

    @tf.function
    def step() -> None:
        tx.update(state, model, [tf.constant([float("nan")]), tf.constant([4.0])])

    tx.freeze(state["0"])
    step()
    assert [leaf.numpy().tolist() for leaf in model] == [[1.0], [3.0]]


def test_a_printed_state_shows_what_was_adjusted_and_frozen() -> None:
    model = {"a": tf.Variable([1.0]), "b": tf.Variable([1.0])}
    state = tx.setup(tx.SGD(0.1), model)
    tx.adjust(state["b"], learning_rate=0.5)
    tx.freeze(state["b"])
    lines = repr(state).splitlines()
    assert lines[-2:] == ["  a  (1,)  float32", "  b  (1,)  float32  learning_rate=0.5 (frozen)"]
