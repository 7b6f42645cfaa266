"""In place and pure, in every context: eager, `tf.function`, XLA, `tf.while_loop`, under a tape."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

import tfexplicit as tx
from tfexplicit.observers import observers

RULES = {
    "sgd": tx.SGD(0.1),
    "nesterov": tx.SGD(0.1, momentum=0.9, nesterov=True),
    "amsgrad": tx.Adam(0.1, amsgrad=True),
    "chain": tx.Chain(tx.ClipByGlobalNorm(1.0), tx.ClipByNorm(0.5), tx.AdamW(0.1)),
    "late global norm": tx.Chain(tx.SGD(1.0, momentum=0.5), tx.ClipByGlobalNorm(0.5)),
}


def run(rule: tx.Rule, how: str, steps: int = 5) -> list[np.ndarray]:
    model = [tf.Variable([1.0, -2.0]), tf.Variable([[0.5]])]
    state = tx.setup(rule, model)

    def body() -> None:
        with tf.GradientTape() as tape:
            loss = sum(tf.reduce_sum(leaf**4) for leaf in model)
        tx.update(state, model, tape.gradient(loss, model))

    if how == "while_loop":

        @tf.function
        def loop() -> None:
            def one(i: Any) -> Any:
                body()
                return i + 1

            tf.while_loop(lambda i: i < steps, one, [tf.constant(0)])

        loop()
    else:
        step = {
            "eager": body,
            "function": tf.function(body),
            "xla": tf.function(body, jit_compile=True),
        }[how]
        for _ in range(steps):
            step()
    assert int(state.step) == steps
    return [leaf.numpy() for leaf in model]


@pytest.mark.parametrize("how", ["function", "xla", "while_loop"])
@pytest.mark.parametrize("name", RULES)
def test_every_context_gives_the_same_numbers(name: str, how: str) -> None:
    for ours, eager in zip(run(RULES[name], how), run(RULES[name], "eager"), strict=True):
        np.testing.assert_allclose(ours, eager, rtol=2e-6)


LEAVES = st.lists(st.floats(-2, 2, width=32), min_size=1, max_size=3)
MODELS = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, min_size=1, max_size=3)
        | st.dictionaries(st.sampled_from("abc"), inner, min_size=1)
    ),
    max_leaves=5,
)


def is_values(node: Any) -> bool:
    return isinstance(node, list) and isinstance(node[0], float)


def build(node: Any, make: Any) -> Any:
    if is_values(node):
        return make(node)
    if isinstance(node, dict):
        return {key: build(child, make) for key, child in node.items()}
    return [build(child, make) for child in node]


@settings(max_examples=8, deadline=None)
@given(
    shape=MODELS,
    name=st.sampled_from(sorted(RULES)),
    missing=st.lists(st.booleans(), min_size=8, max_size=8),
    tied=st.booleans(),
)
def test_in_place_equals_pure_on_made_trees(
    shape: Any, name: str, missing: list[bool], tied: bool
) -> None:
    variables = build(shape, lambda values: tf.Variable(values, dtype=tf.float32))
    values: Any = build(shape, lambda values: tf.constant(values, tf.float32))
    if tied:
        variables, values = [variables, variables], [values, values]
    live, pure = tx.setup(RULES[name], variables), tx.setup(RULES[name], values)
    leaves = tx.trainables(variables)
    for step in range(3):
        grads: list[Any] = [
            None if missing[(i + step) % 8] else leaf * 2 + 1.0 for i, leaf in enumerate(leaves)
        ]
        if all(grad is None for grad in grads):
            grads[0] = tf.ones(leaves[0].shape)
        before = [leaf.numpy() for leaf in leaves]
        chained, new_values = tx.updated(pure, values, grads)
        from_variables = tx.updated(live, variables, grads)[1]
        assert all(np.array_equal(leaf, old) for leaf, old in zip(leaves, before, strict=True)), (
            "updated changed a variable"
        )
        tx.update(live, variables, grads)
        pure, values = chained, new_values
        for ours in (values, from_variables):
            for a, b in zip(tx.trainables(ours), leaves, strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-7)
    assert int(pure.step) == int(live.step) == 3


def test_updated_can_be_differentiated_through() -> None:
    """d/d(rate) of the loss after two inner steps on w -> (w - target)^2, in closed form."""
    start, target = 3.0, tf.constant(1.0)
    rate = tf.Variable(0.1)

    def after_inner_steps() -> Any:
        values: Any = {"w": tf.constant(start)}
        state: Any = tx.setup(tx.SGD(rate), values)
        for _ in range(2):
            grads = tx.grad(lambda model: (model["w"] - target) ** 2)(values)
            state, values = tx.updated(state, values, grads)
        return (values["w"] - target) ** 2

    # w2 - target = (1 - 2 rate)^2 (start - target)
    expected = 2 * (0.8**2 * 2.0) * (2 * 0.8 * -2.0 * 2.0)
    for function in (after_inner_steps, tf.function(after_inner_steps)):
        with tf.GradientTape() as tape:
            loss = function()
        np.testing.assert_allclose(float(tape.gradient(loss, rate)), expected, rtol=1e-5)


def test_maml_reaches_the_variables_of_a_keras_model() -> None:
    model = keras.Sequential([keras.layers.Input((1,)), keras.layers.Dense(1, use_bias=False)])
    model.layers[0].kernel.assign([[3.0]])
    state = tx.setup(tx.SGD(0.1), model)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            loss = tf.reduce_sum((model(tf.ones([1, 1])) - 1.0) ** 2)
        grads = inner.gradient(loss, tx.trainables(model))
        _, values = tx.updated(state, model, grads)
        (path,) = state.paths
        layer, name = path.split("/")
        adapted = tf.reduce_sum((values[layer][name] - 1.0) ** 2)
    gradient = outer.gradient(adapted, tx.trainables(model)[0])
    # adapted = (0.8 (w - 1))^2
    np.testing.assert_allclose(gradient.numpy(), [[2 * 0.64 * 2.0]], rtol=1e-5)
    np.testing.assert_array_equal(model.layers[0].kernel.numpy(), [[3.0]])


def test_constraints_hold_after_the_step_as_in_keras() -> None:
    def make() -> Any:
        layer = keras.layers.Dense(2, kernel_constraint=keras.constraints.MaxNorm(0.5))
        layer.build((None, 3))
        layer.kernel.assign(np.full((3, 2), 0.7))
        return layer

    ours, theirs = make(), make()
    optimizer = keras.optimizers.SGD(0.1)
    state = tx.setup(tx.SGD(0.1), ours)
    grads = [tf.fill([3, 2], 0.3), tf.ones([2])]
    _, pure = tx.updated(state, ours, grads)
    tx.update(state, ours, grads)
    optimizer.apply(grads, theirs.trainable_variables)
    np.testing.assert_array_equal(ours.kernel.numpy(), theirs.kernel.numpy())
    np.testing.assert_array_equal(pure["kernel"], theirs.kernel.numpy())


def test_an_in_place_step_makes_no_variables_and_slots_have_the_size_of_their_leaves() -> None:
    model = keras.Sequential([keras.layers.Input((8,)), keras.layers.Dense(16)])
    state = tx.setup(tx.Adam(0.1), model)
    size = sum(leaf.numpy().nbytes for leaf in model.trainable_variables)
    assert sum(s.numpy().nbytes for p in state.paths for s in state[p].slots.values()) == 2 * size

    @tf.function
    def step() -> None:
        tx.update(state, model, [tf.ones(leaf.shape) for leaf in tx.trainables(model)])

    made: list[Any] = []

    def creator(next_creator: Any, **kwargs: Any) -> Any:
        made.append(next_creator(**kwargs))
        return made[-1]

    with tf.variable_creator_scope(creator):
        step()
        tx.update(state, model, [tf.ones(leaf.shape) for leaf in tx.trainables(model)])
    assert made == []


def test_leaves_keep_their_dtype_and_slots_have_it_too_but_for_half_precision() -> None:
    model = [tf.Variable(tf.ones(2, dtype)) for dtype in ("float16", "bfloat16", "float64")]
    model.append(tf.Variable(tf.ones(2, tf.complex64)))
    state = tx.setup(tx.Adam(0.01), model)
    tx.update(state, model, [tf.ones(2, leaf.dtype) for leaf in model])
    _, values = tx.updated(state, model, [tf.ones(2, leaf.dtype) for leaf in model])
    for path, leaf, value in zip(state.paths, model, values, strict=True):
        assert value.dtype == leaf.dtype
        kept = tf.float32 if leaf.dtype in (tf.float16, tf.bfloat16) else leaf.dtype
        assert {slot.dtype for slot in state[path].slots.values()} == {kept}


def test_autograph_converts_the_users_loss_and_not_ours() -> None:
    variable = tf.Variable(1.0)
    state = tx.setup(tx.SGD(0.5), [variable])

    def loss(model: Any) -> Any:
        if model[0] > 0:
            return model[0] ** 2
        return -model[0]

    @tf.function
    def step() -> Any:
        return tx.minimize(loss, state, [variable])

    assert float(step()) == 1.0
    assert float(variable) == 0.0
    assert float(tx.minimize(tf.function(loss), state, [variable])) == 0.0
    assert float(variable) == 0.5
    assert float(tx.minimize(lambda: variable * 2.0, state, [variable])) == 1.0
    assert float(variable) == -0.5


def test_observers_see_each_step_once_outermost() -> None:
    seen: list[Any] = []

    class Watching:
        def __init__(self, leaves: Any, grads: Any, opt_state: Any) -> None:
            seen.append(([leaf.numpy() for leaf in leaves], [g is not None for g in grads]))
            assert opt_state is state
            self.leaves = leaves

        def __enter__(self) -> None:
            return None

        def __exit__(self, *_: Any) -> None:
            seen.append([float(leaf) for leaf in self.leaves])

    model = [tf.Variable(1.0), tf.Variable(2.0)]
    state = tx.setup(tx.SGD(1.0), model)
    observers.append(Watching)
    try:
        tx.update(state, model, [tf.constant(1.0), None])
        tx.updated(state, model, [tf.constant(1.0), None])
    finally:
        observers.remove(Watching)
    assert seen == [([1.0, 2.0], [True, False]), [0.0, 2.0]]
