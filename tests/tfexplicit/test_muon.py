"""Which leaves Muon steps, and which it leaves to AdamW."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

import tfexplicit as tx

ARGUMENTS: dict[str, Any] = {"learning_rate": 0.01, "exclude_layers": ["head/ker"]}


def network() -> Any:
    keras.utils.set_random_seed(0)
    return keras.Sequential(
        [
            keras.layers.Input((2,)),
            keras.layers.Embedding(5, 3, name="words"),
            keras.layers.Flatten(),
            keras.layers.Dense(4, name="hidden"),
            keras.layers.Dense(2, name="head"),
        ]
    )


def trained(model: Any, spec: Any, through_tx: bool) -> list[np.ndarray]:
    variables = model.trainable_variables
    state = tx.setup(spec, model) if through_tx else None
    if state is None:
        spec.build(variables)

    @tf.function
    def step(seed: Any) -> None:
        grads = [tf.random.stateless_normal(v.shape, seed) for v in variables]
        if state is not None:
            tx.update(state, model, grads)
        else:
            spec.apply_gradients(zip(grads, variables, strict=True))

    for count in range(5):
        step(tf.constant([count, 1]))
    return [v.numpy() for v in variables]


@pytest.mark.parametrize("taken_over", [False, True])
def test_a_model_with_an_embedding_and_an_excluded_layer_trains_as_keras(taken_over: bool) -> None:
    theirs = trained(network(), keras.optimizers.Muon(**ARGUMENTS), through_tx=False)
    spec = keras.optimizers.Muon(**ARGUMENTS) if taken_over else tx.Muon(**ARGUMENTS)
    ours = trained(network(), spec, through_tx=True)
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def test_matrices_are_told_by_rank_path_and_pattern() -> None:
    model = {
        "embedding": tf.Variable(tf.zeros([3, 2])),
        "hidden": {"kernel": tf.Variable(tf.zeros([3, 2])), "bias": tf.Variable(tf.zeros([2]))},
        "head": tf.Variable(tf.zeros([3, 2])),
        "cube": tf.Variable(tf.zeros([3, 2, 2])),
    }

    def by_muon(rule: tx.Rule) -> set[str]:
        state = tx.setup(rule, model)
        return {path for path in state.paths if "velocity" not in state[path].slots}

    assert by_muon(tx.Muon()) == {"hidden/kernel", "head"}
    assert by_muon(tx.Muon(exclude_layers=["^he"])) == {"hidden/kernel"}
    assert by_muon(tx.Muon(exclude_embeddings=False)) == {"hidden/kernel", "head", "embedding"}


def test_each_leaf_has_the_hyperparameters_of_its_own_method() -> None:
    model = {"kernel": tf.Variable(tf.zeros([3, 2])), "bias": tf.Variable(tf.zeros([2]))}
    state = tx.setup(tx.Muon(), model)
    tx.adjust(state, learning_rate=0.5)
    tx.adjust(state["kernel"], momentum=0.5)
    tx.adjust(state["bias"], adam_beta_1=0.5)
    with pytest.raises(ValueError, match="no rule here has a hyperparameter 'momentum'"):
        tx.adjust(state["bias"], momentum=0.5)
    with pytest.raises(ValueError, match="no rule here has a hyperparameter 'adam_beta_1'"):
        tx.adjust(state["kernel"], adam_beta_1=0.5)
