"""Trajectories of Optimisers.jl, for the rules that Keras lacks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import tfexplicit as tx

GOLDEN = json.loads((Path(__file__).parent / "golden.json").read_text())
RULES = {
    "RAdam": tx.RAdam(epsilon=1e-8, sma_threshold=4.0),
    "OAdam": tx.OAdam(),
    "Rprop": tx.Rprop(),
    "AdaBelief": tx.AdaBelief(epsilon=1e-16, rectify=False),
}


@pytest.mark.parametrize("how", ["eager", "jit"])
@pytest.mark.parametrize("name", RULES)
def test_rules_follow_the_golden_trajectories(name: str, how: str) -> None:
    entry = GOLDEN[name]
    leaf = tf.Variable(entry["x0"], dtype=tf.float64)
    state: Any = tx.setup(RULES[name], leaf)

    def step(grad: Any) -> None:
        tx.update(state, leaf, grad)

    if how == "jit":
        step = tf.function(step, jit_compile=True)
    for grad, expected in zip(entry["grads"], entry["traj"], strict=True):
        step(tf.constant(grad, tf.float64))
        np.testing.assert_allclose(leaf, expected, rtol=1e-12)
