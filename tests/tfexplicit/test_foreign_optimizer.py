"""`setup` takes an object that steps by an `apply_gradients` of its own, as TF1's optimizers do."""

from __future__ import annotations

from typing import Any

import pytest
import tensorflow as tf

import tfexplicit as tx


def _trained(with_state: bool, in_function: bool) -> list[list[float]]:
    weights, unused = tf.Variable([1.0, -2.0, 0.5]), tf.Variable(3.0)
    optimizer = tf.compat.v1.train.AdamOptimizer(0.1)
    state = tx.setup(optimizer, [weights, unused]) if with_state else None

    def step(x: Any) -> None:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(weights * x - 1.0))
        grads = tape.gradient(loss, [weights, unused])
        if state is not None:
            tx.update(state, [weights, unused], grads)
        else:
            optimizer.apply_gradients(zip(grads, [weights, unused], strict=True))

    run = tf.function(step) if in_function else step
    values = []
    for count in range(1, 5):
        run(tf.constant([1.0, 2.0, 3.0]))
        values.append([*weights.numpy().tolist(), float(unused)])
        assert state is None or int(state.step) == count
    return values


@pytest.mark.parametrize("in_function", [True, False])
def test_it_steps_as_it_would_by_itself(in_function: bool) -> None:
    assert _trained(True, in_function) == _trained(False, in_function)


def test_what_the_state_shows() -> None:
    state = tx.setup(tf.compat.v1.train.GradientDescentOptimizer(0.1), [tf.Variable(1.0)])
    assert "GradientDescentOptimizer" in repr(state)
    assert "Keras" not in repr(state)
    assert state["0"].slots == {}
    with pytest.raises(ValueError, match="no rule here has a hyperparameter"):
        tx.adjust(state, learning_rate=0.5)


def test_it_steps_variables_only() -> None:
    with pytest.raises(TypeError, match="steps variables"):
        tx.setup(tf.compat.v1.train.GradientDescentOptimizer(0.1), [tf.constant(1.0)])


def test_a_graph_of_tensorflow_1_can_be_built_with_it() -> None:
    with tf.Graph().as_default():
        weight = tf.Variable([1.0, 2.0])
        state = tx.setup(tf.compat.v1.train.GradientDescentOptimizer(0.5), [weight])
        tx.update(state, [weight], [tf.constant([1.0, 1.0])])
        graph = tf.compat.v1.get_default_graph()
        steps = [op for op in graph.get_operations() if "ApplyGradientDescent" in op.type]
        with tf.compat.v1.Session() as session:
            session.run(tf.compat.v1.global_variables_initializer())
            session.run(steps)
            assert list(session.run(weight)) == [0.5, 1.5]
