"""Half-precision and complex leaves, under every rule that there is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import tfexplicit as tx
from tfexplicit.rules import all_rules


def variants(rules: dict[str, type[tx.Rule]]) -> list[Any]:
    """The first of each rule in CI, the others by hand."""
    return [
        pytest.param(variant, id=f"{name}-{number}", marks=pytest.mark.slow if number else ())
        for name, rule in sorted(rules.items())
        for number, variant in enumerate(rule.variants())
    ]


VARIANTS = variants(all_rules)
COMPLEX = variants({name: rule for name, rule in all_rules.items() if rule.takes_complex})
# Small, so that a step of the default learning rate is large beside the leaf's own rounding.
START = np.array([[0.01, -0.02, 0.03], [0.005, 0.04, -0.01]])
# The squares of the last column leave the range of float16, at both ends.
NUMBERS = np.array([[0.3, -1.0, 300.0], [2.0, 0.5, -1e-4]])
GRADS = [NUMBERS * factor for factor in (1.0, 0.5, 1.25)]
ROTATION = np.exp(0.7j)


def trained(rule: tx.Rule, dtype: str, factor: complex = 1.0) -> tuple[tf.Variable, tx.OptState]:
    def array(value: np.ndarray) -> tf.Tensor:
        return tf.cast(tf.constant(value * factor), dtype)

    leaf = tf.Variable(array(START))
    state = tx.setup(rule, {"w": leaf})
    for grad in GRADS:
        tx.update(state, {"w": leaf}, {"w": array(grad)})
    return leaf, state


@pytest.mark.parametrize("rule", VARIANTS)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_leaves_train_as_float32_leaves_but_for_rounding(rule: tx.Rule, dtype: str) -> None:
    half, state = trained(rule, dtype)
    full, _ = trained(rule, "float32")
    assert half.dtype == dtype
    for slot in state["w"].slots.values():
        assert slot.dtype.name not in ("float16", "bfloat16")
    eps = {"float16": 2.0**-10, "bfloat16": 2.0**-7}[dtype]
    moved = np.abs(full.numpy() - START)
    error = np.abs(tf.cast(half, tf.float32).numpy() - full.numpy())
    assert np.all(error <= 4 * eps * (np.abs(full.numpy()) + moved)), (half, full)


@pytest.mark.parametrize("rule", COMPLEX)
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_leaves_train_as_the_real_ones_along_any_direction(
    rule: tx.Rule, dtype: str
) -> None:
    """Rules use |g|^2, so a rotation of leaf and gradient rotates the result."""
    real, _ = trained(rule, {"complex64": "float32", "complex128": "float64"}[dtype])
    along_real, _ = trained(rule, dtype)
    rotated, _ = trained(rule, dtype, ROTATION)
    assert along_real.dtype == rotated.dtype == dtype
    tolerance = {"rtol": 2e-5, "atol": 1e-7} if dtype == "complex64" else {"rtol": 1e-10}
    np.testing.assert_allclose(along_real, real, **tolerance)
    np.testing.assert_allclose(rotated, real.numpy() * ROTATION, **tolerance)


def test_a_complex_loss_falls() -> None:
    target, leaf = tf.constant([2.0 + 0j, 1j]), tf.Variable([1j, 0j])
    state = tx.setup(tx.Adam(0.1), leaf)

    def loss(z: Any) -> Any:
        return tf.reduce_sum(tf.abs(z - target) ** 2)

    losses = [float(tx.minimize(loss, state, leaf)) for _ in range(10)]
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] < 0.8 * losses[0]


def test_adam_in_float16_with_gradients_near_its_smallest_numbers() -> None:
    """Optimisers.jl's case: with epsilon rounded to zero the result was not finite."""
    start = tf.constant([0.579, -0.729, 0.5493], tf.float16)
    leaf, grads = tf.Variable(start), tf.constant([-0.001497, 0.0001875, -0.013176], tf.float16)
    state = tx.setup(tx.Adam(1e-4), leaf)
    tx.update(state, leaf, grads)
    assert np.all(np.isfinite(leaf.numpy()))
    # Half of a float16's distance to the next is more than the whole step.
    np.testing.assert_allclose(leaf.numpy(), start.numpy(), atol=5e-4)


@pytest.mark.parametrize("rule", [tx.Adam(0.01), tx.AdamW(0.01, weight_decay=0.0)], ids=repr)
def test_a_small_float16_gradient_is_not_lost_or_blown_up_at_the_first_step(rule: tx.Rule) -> None:
    """Its square underflows; Keras divides by epsilon alone then and steps 50 times as far."""
    leaf = tf.Variable(tf.zeros([1], tf.float16))
    tx.update(tx.setup(rule, leaf), leaf, tf.constant([1e-4], tf.float16))
    np.testing.assert_allclose(leaf.numpy(), [-0.01], rtol=0.05)


@pytest.mark.parametrize("rule", [tx.ClipByNorm(5.0), tx.ClipByGlobalNorm(5.0)], ids=repr)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_a_norm_whose_square_overflows_float16_is_clipped_to(rule: tx.Rule, dtype: str) -> None:
    leaf = tf.Variable(tf.zeros([2], dtype))
    tx.update(tx.setup(rule, leaf), leaf, tf.constant([300.0, 400.0], dtype))
    np.testing.assert_allclose(tf.cast(leaf, tf.float32), [-3.0, -4.0], rtol=1e-2)


def test_gradients_have_the_dtypes_of_their_leaves() -> None:
    dtypes = ["float16", "bfloat16", "float32", "float64", "complex64", "complex128"]
    model = {dtype: tf.constant([2.0], dtype) for dtype in dtypes}

    def loss(model: Any) -> Any:
        return sum(tf.cast(tf.abs(tf.reduce_sum(leaf**2)), tf.float64) for leaf in model.values())

    grads = tx.grad(loss)(model)
    for dtype in dtypes:
        assert grads[dtype].dtype == dtype
        assert complex(grads[dtype][0]) == 4.0
