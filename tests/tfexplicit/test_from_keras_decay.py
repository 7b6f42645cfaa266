"""`from_keras` of optimizers whose rule has a weight decay of its own."""

from __future__ import annotations

import keras
import pytest

import tfexplicit as tx


@pytest.mark.parametrize("name", ["Muon", "ScheduleFreeAdamW"])
def test_no_rule_is_made_that_would_decay_what_the_optimizer_excludes(name: str) -> None:
    optimizer = getattr(keras.optimizers, name)(0.1, weight_decay=0.5)
    assert tx.from_keras(optimizer).hyperparameters()["weight_decay"] == 0.5
    optimizer.exclude_from_weight_decay(var_names=["kernel"])
    with pytest.raises(ValueError, match=rf"the rule {name} decays every leaf"):
        tx.from_keras(optimizer)


def test_no_weight_decay_at_all_is_a_decay_of_zero() -> None:
    free = tx.from_keras(keras.optimizers.ScheduleFreeAdamW(0.1))
    assert free.hyperparameters()["weight_decay"] == 0.0
    muon = tx.from_keras(keras.optimizers.Muon(0.1, weight_decay=None, adam_weight_decay=None))
    assert muon.hyperparameters()["weight_decay"] == 0.0
    assert muon.hyperparameters()["adam_weight_decay"] == 0.0
