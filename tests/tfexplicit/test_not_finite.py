"""What is not finite in a gradient shows in the leaf, as in Keras: no rule hides it."""

from __future__ import annotations

from collections.abc import Sequence

import keras
import numpy as np
import pytest
import tensorflow as tf

import tfexplicit as tx
from tfexplicit import ways
from tfexplicit.rules import all_rules

START = [1.0, 2.0, -3.0, 0.5, 0.0, 1.0]
GRADIENTS = [[1.0, np.nan, np.inf, -np.inf, 0.0, 2.0], np.ones(6)]


def rules_of_keras() -> list[tx.Rule]:
    names = [name for name in all_rules if hasattr(keras.optimizers, name)]
    return [rule for name in names for rule in all_rules[name].variants()]


def check_against_keras(rules: Sequence[tx.Rule]) -> None:
    model = [tf.Variable(START) for _ in rules]
    state = tx.setup({str(number): rule for number, rule in enumerate(rules)}, model)
    for gradient in GRADIENTS:
        tx.update(state, model, [tf.constant(gradient, tf.float32)] * len(rules))
    for rule, ours in zip(rules, model, strict=True):
        leaf = keras.Variable(START)
        optimizer = getattr(keras.optimizers, type(rule).__name__)(**rule.arguments())
        for gradient in GRADIENTS:
            optimizer.apply([tf.constant(gradient, tf.float32)], [leaf])
        np.testing.assert_array_equal(np.isfinite(ours), np.isfinite(leaf), err_msg=repr(rule))


def test_formulas_show_it() -> None:
    one_of_each = {type(rule): rule for rule in reversed(rules_of_keras())}
    assert len(one_of_each) >= 12
    # Muon steps a vector as Adam does.
    check_against_keras([rule for rule in one_of_each.values() if not isinstance(rule, tx.Muon)])


def test_fused_ops_show_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ways, "FROM_BYTES", 0)
    leaf = tf.Variable(START)
    rules = [rule for rule in rules_of_keras() if rule.fused("w", leaf) is not None]
    assert len(rules) >= 8
    check_against_keras(rules)
