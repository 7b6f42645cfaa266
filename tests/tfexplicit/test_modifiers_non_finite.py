"""`SkipNonFinite` and `LossScale`: steps that are left out, and the scale."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
import tf_keras

import tfexplicit as tx

NAN, INF = float("nan"), float("inf")


def shared(state: tx.OptState) -> dict[str, Any]:
    return {n.rsplit("/", 1)[-1]: c.numpy() for g in state.groups for n, c in g.shared.items()}


def adam_on(grads: list[float]) -> float:
    v = tf.Variable(1.0)
    state = tx.setup(tx.Adam(0.1), v)
    for grad in grads:
        tx.update(state, v, tf.constant(grad))
    return float(v.numpy())


def test_a_step_with_any_non_finite_gradient_never_happened() -> None:
    model = [tf.Variable(1.0), tf.Variable(1.0)]
    state = tx.setup(tx.Chain(tx.SkipNonFinite(), tx.Adam(0.1)), model)
    for pair in ((1.0, 1.0), (NAN, 1.0), (2.0, 2.0), (1.0, INF), (-INF, 0.0), (0.5, 0.5)):
        tx.update(state, model, [tf.constant(grad) for grad in pair])
    expected = adam_on([1.0, 2.0, 0.5])
    assert [leaf.numpy() for leaf in model] == pytest.approx([expected] * 2, rel=1e-6)
    assert state.step == 6
    assert shared(state) == {"in_a_row": 0, "total": 3}


def test_too_many_in_a_row_go_through() -> None:
    v = tf.Variable(1.0)
    state = tx.setup(tx.Chain(tx.SkipNonFinite(max_in_a_row=2), tx.SGD(0.5)), v)
    for grad in (NAN, NAN, 1.0, NAN, NAN):
        tx.update(state, v, tf.constant(grad))
    assert v.numpy() == 0.5
    assert shared(state) == {"in_a_row": 2, "total": 4}
    tx.update(state, v, tf.constant(NAN))
    assert np.isnan(v.numpy())
    assert shared(state)["in_a_row"] == 3


def test_frozen_leaves_and_complex_ones_are_looked_at_rightly() -> None:
    model = [tf.Variable(1.0), tf.Variable(1 + 1j, dtype=tf.complex64)]
    state = tx.setup(tx.Chain(tx.SkipNonFinite(), tx.SGD(0.5)), model)
    one, broken = tf.constant(1.0), tf.constant(complex(0, NAN), tf.complex64)
    tx.update(state, model, [one, broken])
    assert model[0].numpy() == 1.0
    tx.freeze(state["1"])
    tx.update(state, model, [one, broken])
    assert [leaf.numpy() for leaf in model] == [0.5, 1 + 1j]


def test_it_waits_for_accumulated_gradients_and_protects_their_sum() -> None:
    v = tf.Variable(1.0)
    state = tx.setup(tx.Chain(tx.AccumulateGrads(2), tx.SkipNonFinite(), tx.SGD(0.5)), v)
    for grad in (1.0, INF, 1.0, 1.0):
        tx.update(state, v, tf.constant(grad))
    assert v.numpy() == 0.5
    assert shared(state) == {"in_a_row": 0, "total": 1}

    v.assign(1.0)
    state = tx.setup(tx.Chain(tx.SkipNonFinite(), tx.AccumulateGrads(2), tx.SGD(0.5)), v)
    for grad in (1.0, INF, 3.0):
        tx.update(state, v, tf.constant(grad))
    assert v.numpy() == 0.0


def test_loss_scale_is_that_of_keras() -> None:
    theirs, ours = tf.Variable(1.0), tf.Variable(1.0)
    optimizer = keras.optimizers.LossScaleOptimizer(
        keras.optimizers.Adam(0.1), initial_scale=4.0, dynamic_growth_steps=2
    )
    optimizer.build([theirs])
    scale = tx.LossScale(4.0, dynamic_growth_steps=2)
    state = tx.setup(tx.Chain(scale, tx.Adam(0.1)), ours)
    for grad in (1.0, 2.0, INF, 3.0, NAN, NAN, 1.0, 2.0, 3.0):
        tx.update(state, ours, tx.scale_loss(state, tf.constant(grad)))
        optimizer.apply([optimizer.scale_loss(tf.constant(grad))], [theirs])
        assert float(tx.scale_loss(state, 1.0)) == float(optimizer.dynamic_scale)
        assert ours.numpy() == pytest.approx(theirs.numpy(), rel=1e-6)


def test_the_scale_may_fall_below_one_but_not_out_of_bounds() -> None:
    v = tf.Variable(1.0)
    rule = tx.LossScale(1.0, dynamic_growth_steps=1, min_scale=0.25, max_scale=2.0)
    state = tx.setup(rule, v)
    scales = []
    for grad in (NAN, NAN, NAN, 0.0, 0.0, 0.0, 0.0):
        tx.update(state, v, tf.constant(grad))
        scales.append(float(tx.scale_loss(state, 1.0)))
    assert scales == [0.5, 0.25, 0.25, 0.5, 1.0, 2.0, 2.0]


def test_a_fixed_scale_is_the_loss_scale_factor_of_keras() -> None:
    theirs, ours = tf.Variable(1.0), tf.Variable(1.0)
    optimizer = keras.optimizers.SGD(0.5, loss_scale_factor=8.0)
    optimizer.build([theirs])
    state = tx.setup(tx.Chain(tx.LossScale(8.0, dynamic=False), tx.SGD(0.5)), ours)
    for grad in (1.0, 2.0):
        loss = tf.constant(grad)
        assert float(tx.scale_loss(state, loss)) == float(optimizer.scale_loss(loss)) == 8 * grad
        tx.update(state, ours, tx.scale_loss(state, loss))
        optimizer.apply([optimizer.scale_loss(loss)], [theirs])
    assert ours.numpy() == theirs.numpy() == -0.5


@pytest.mark.parametrize("compiled", [False, True])
def test_minimize_scales_by_itself_also_a_model_that_it_builds(compiled: bool) -> None:
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, use_bias=False)])
    state = tx.setup(tx.Chain(tx.LossScale(2.0**10), tx.SGD(0.5)), model)
    x = tf.constant([[3.0]])

    def step() -> Any:
        return tx.minimize(lambda model: tf.reduce_sum(model(x)), state, model)

    run = tf.function(step) if compiled else step
    loss = run()
    assert float(loss) / 3.0 - model.layers[0].kernel.numpy().item() == pytest.approx(1.5, 1e-5)


def test_train_scales_by_itself() -> None:
    v = tf.Variable(2.0)
    state = tx.setup(tx.Chain(tx.LossScale(2.0**10), tx.SGD(0.25)), v)
    log = tx.train(
        lambda v, x: v * x, v, [tf.constant(2.0), tf.constant(4.0)], state, progress=False
    )
    assert v.numpy() == 0.5
    assert list(log.loss) == [4.0, 6.0]


def test_rows_that_are_stepped_alone_are_scaled_and_looked_at() -> None:
    table = tf.Variable([[1.0], [1.0]])
    rule = tx.Chain(tx.LossScale(2.0), tx.SkipNonFinite(), tx.SGD(0.5))
    state = tx.setup(rule, table, sparse="lazy")
    for grad in (2.0, NAN, 2.0):
        rows = tf.IndexedSlices(tf.constant([[grad]]), tf.constant([1]), tf.constant([2, 1]))
        tx.update(state, table, rows)
    assert table.numpy().ravel().tolist() == [1.0, -0.5]


def test_the_scale_keeps_float16_gradients_from_vanishing() -> None:
    """1e-8 is zero in float16; scaled it is not, and the float32 copy adds it up."""
    w = tf.Variable(tf.ones([2], tf.float16))
    rule = tx.MixedPrecision(tx.Chain(tx.LossScale(2.0**15), tx.SGD(1.0)))
    state = tx.setup(rule, w)
    # The loss is in float32, the weights' part of the computation in float16.
    tx.minimize(lambda w: tf.reduce_sum(tf.cast(w, tf.float32)) * 1e-8, state, w)
    master = state[state.paths[0]].slots["master"]
    assert master.dtype == tf.float32
    tx.update(state, w, tf.cast(tx.scale_loss(state, tf.fill([2], 1e-7)), tf.float16))
    np.testing.assert_allclose(1 - master.numpy(), [1e-7] * 2, rtol=0.2)


def test_loss_scale_refuses_what_it_cannot_do() -> None:
    v = {"a": tf.Variable(1.0), "b": tf.Variable(1.0)}
    assert tx.scale_loss(tx.setup(tx.SGD(), v), 3.0) == 3.0
    two = tx.Partition({"a": tx.LossScale(), "b": tx.LossScale()})
    with pytest.raises(ValueError, match=r"tx.Chain\(tx.LossScale\(\), tx.Partition"):
        tx.scale_loss(tx.setup(two, v), 1.0)
    for arguments in ({"initial_scale": 0}, {"initial_scale": 2.0**30}, {"min_scale": -1.0}):
        with pytest.raises(ValueError, match="LossScale: `"):
            tx.LossScale(**arguments)
    with pytest.raises(TypeError, match="`dynamic_growth_steps` must be an integer"):
        tx.LossScale(dynamic_growth_steps=1.5)  # type: ignore[arg-type]


@pytest.mark.parametrize("by_tape", [False, True])
def test_minimize_scales_as_an_optimizer_of_tf_keras_that_was_set_up(by_tape: bool) -> None:
    """The gradient is too small for float16, unless the loss is scaled."""

    def trained(explicit: bool) -> Any:
        v = tf.Variable([1.0, -2.0])
        optimizer = tf_keras.mixed_precision.LossScaleOptimizer(
            tf_keras.optimizers.SGD(1e3), dynamic=False, initial_scale=2.0**12
        )
        state = tx.setup(optimizer, [v]) if explicit else None

        def loss_fn() -> Any:
            return tf.reduce_sum(tf.cast(v, tf.float16) * tf.constant(1.3e-7, tf.float16))

        for _ in range(3):
            with tf.GradientTape() as tape:
                loss = loss_fn()
            given = {"tape": tape} if by_tape else {}
            first = loss if by_tape else loss_fn
            if explicit:
                tx.minimize(first, state, [v], **given)
            else:
                optimizer.minimize(first, [v], **given)
        return v.numpy()

    np.testing.assert_array_equal(trained(explicit=True), trained(explicit=False))


def test_minimize_scales_as_an_optimizer_of_keras_3_that_was_set_up() -> None:
    v = tf.Variable([1.0, -2.0])
    optimizer = keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD(0.5), initial_scale=8.0)
    state = tx.setup(optimizer, [v])
    tx.minimize(lambda: tf.reduce_sum(v * v), state, [v])
    np.testing.assert_array_equal(v, [0.0, 0.0])
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(v + v)
    tx.minimize(loss, state, [v], tape=tape)
    np.testing.assert_array_equal(v, [-1.0, -1.0])
