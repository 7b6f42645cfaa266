"""A rule moves float16 and bfloat16 leaves as it moves float32 leaves, up to their rounding."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import tfexplicit as tx
from tfexplicit.rules import all_rules

VARIANTS = [rule for name in sorted(all_rules) for rule in all_rules[name].variants()]
START = {"kernel": [[1.0, -2.0, 0.5], [0.25, 0.0, -1.0]], "bias": [0.5, 0.0]}


def trained(rule: tx.Rule, dtype: str, size: float) -> list[np.ndarray]:
    """Ten steps with gradients of this size, the same for every dtype."""
    model: Any = {name: tf.Variable(value, dtype=dtype) for name, value in START.items()}
    state = tx.setup(rule, model)
    rng = np.random.default_rng(0)
    for _ in range(10):
        grads = {name: rng.normal(size=leaf.shape) * size for name, leaf in model.items()}
        tx.update(
            state, model, {k: tf.cast(tf.cast(g, "bfloat16"), dtype) for k, g in grads.items()}
        )
    assert all(leaf.dtype.name == dtype for leaf in model.values())
    return [tf.cast(leaf, tf.float32).numpy() for leaf in model.values()]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("rule", VARIANTS, ids=repr)
def test_small_gradients_move_a_leaf_of_half_precision_as_they_should(
    rule: tx.Rule, dtype: str
) -> None:
    # Ten roundings of a leaf that is at most about 2.
    bound = 10 * 2 * {"float16": 2.0**-11, "bfloat16": 2.0**-8}[dtype]
    for half, full in zip(trained(rule, dtype, 1e-3), trained(rule, "float32", 1e-3), strict=True):
        np.testing.assert_allclose(half, full, atol=bound)
