"""Second opinions: the same trajectories from Optax and PyTorch, in float64.

Run with `pip install -e .[peers]` and `pytest -m peers`. A peer that computes something else is
given the parameters that make it the same; where that cannot be, the comment says what differs.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import tfexplicit as tx

pytestmark = pytest.mark.peers

Arrays = list[np.ndarray]
STEPS = 30


def by_optax(
    make: Callable[[Any], Any], start: Arrays, grads: Sequence[Arrays]
) -> Iterator[Arrays]:
    jax = pytest.importorskip("jax")
    optax = pytest.importorskip("optax")
    pytest.importorskip("optax.contrib")
    jax.config.update("jax_enable_x64", True)
    transform = make(optax)
    values: Any = [jax.numpy.asarray(value) for value in start]
    state = transform.init(values)
    if make is yogi:
        # Optax starts the first moment of Yogi where the second starts; the paper starts it at 0.
        zeros = [jax.numpy.zeros_like(value) for value in values]
        state = (state[0]._replace(mu=zeros), *state[1:])
    for grad in grads:
        updates, state = transform.update([jax.numpy.asarray(g) for g in grad], state, values)
        values = optax.apply_updates(values, updates)
        yield [np.asarray(value) for value in values]


def by_torch(
    make: Callable[[Any], Any], start: Arrays, grads: Sequence[Arrays]
) -> Iterator[Arrays]:
    torch = pytest.importorskip("torch")
    values = [torch.tensor(value, requires_grad=True) for value in start]
    optimizer = make(torch.optim)(values)
    for grad in grads:
        for value, g in zip(values, grad, strict=True):
            value.grad = torch.tensor(g)
        optimizer.step()
        yield [value.detach().numpy().copy() for value in values]


def yogi(optax: Any) -> Any:
    # Optax adds epsilon after the bias correction, Addons before it: the same without epsilon.
    return optax.yogi(0.01, eps=0.0)


# Name of the rule, its arguments, the peer, and how far apart they may be.
CASES: dict[str, tuple[str, dict[str, Any], Any, Callable[[Any], Any], float]] = {
    "RAdam, Optax": (
        "RAdam",
        {"learning_rate": 0.01, "epsilon": 1e-8},
        by_optax,
        lambda optax: optax.radam(0.01, eps=1e-8, threshold=5.0),
        1e-10,
    ),
    # PyTorch adds epsilon before the bias correction.
    "RAdam, PyTorch": (
        "RAdam",
        {"learning_rate": 0.01, "epsilon": 0.0, "weight_decay": 0.0},
        by_torch,
        lambda optim: lambda values: optim.RAdam(values, lr=0.01, eps=0.0),
        1e-10,
    ),
    "AdaBelief, Optax": (
        "AdaBelief",
        {"learning_rate": 0.01, "epsilon": 1e-8, "rectify": False},
        by_optax,
        lambda optax: optax.adabelief(0.01, eps=1e-8, eps_root=1e-8),
        1e-10,
    ),
    "Yogi, Optax": ("Yogi", {"learning_rate": 0.01, "epsilon": 0.0}, by_optax, yogi, 1e-10),
    "NovoGrad, Optax": (
        "NovoGrad",
        {"learning_rate": 0.01, "beta_2": 0.25, "epsilon": 1e-6, "weight_decay": 0.1},
        by_optax,
        lambda optax: optax.novograd(0.01, b2=0.25, eps=1e-6, weight_decay=0.1),
        1e-10,
    ),
    "COCOB, Optax": (
        "COCOB",
        {"alpha": 20.0},
        by_optax,
        lambda optax: optax.contrib.cocob(1.0, alpha=20.0, eps=1e-8),
        1e-10,
    ),
    # Optax takes at each step the one that was due at the step before, so PyTorch has to do here.
    "Rprop, PyTorch": (
        "Rprop",
        {"learning_rate": 0.01, "step_max": 0.02},
        by_torch,
        lambda optim: lambda values: optim.Rprop(values, lr=0.01, step_sizes=(1e-6, 0.02)),
        1e-10,
    ),
    "Lamb, Optax": (
        "Lamb",
        {"learning_rate": 0.01, "epsilon": 1e-6},
        by_optax,
        lambda optax: optax.lamb(0.01, eps=1e-6),
        1e-10,
    ),
    # Below 1 / sqrt(step), to which Keras limits the learning rate and Optax does not. Optax
    # computes the decay in float32.
    "Adafactor, Optax": (
        "Adafactor",
        {"learning_rate": 0.01},
        by_optax,
        lambda optax: optax.adafactor(0.01, min_dim_size_to_factor=1),
        1e-6,
    ),
    # PyTorch clamps the second moments to the square of its first epsilon, Keras adds epsilon_1.
    "Adafactor, PyTorch": (
        "Adafactor",
        {"learning_rate": 0.5},
        by_torch,
        lambda optim: (
            lambda values: optim.Adafactor(values, lr=0.5, eps=(1e-30, 1e-3), weight_decay=0.0)
        ),
        1e-10,
    ),
    # The momentum is a mean in Optax and PyTorch and a sum in Keras, which the orthogonalisation
    # does not see but for its epsilon. With Nesterov Optax corrects the bias of the mean but not
    # in the same proportion as that of the gradient, so the comparison is without.
    "Muon, Optax": (
        "Muon",
        {"learning_rate": 0.01, "weight_decay": 0.0, "nesterov": False, "rms_rate": None},
        by_optax,
        lambda optax: optax.chain(
            optax.contrib.scale_by_muon(
                eps=1e-7,
                nesterov=False,
                weight_dimension_numbers=[optax.contrib.MuonDimensionNumbers()],
            ),
            optax.scale(-0.01),
        ),
        1e-6,
    ),
    # PyTorch orthogonalises in bfloat16.
    "Muon, PyTorch": (
        "Muon",
        {"learning_rate": 0.01, "weight_decay": 0.0},
        by_torch,
        lambda optim: (
            lambda values: optim.Muon(
                values, lr=0.01, weight_decay=0.0, momentum=0.95, adjust_lr_fn="match_rms_adamw"
            )
        ),
        2e-2,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_peer_trains_the_same(name: str) -> None:
    rule_name, arguments, run, make, bound = CASES[name]
    rng = np.random.default_rng(5)
    shapes = [(4, 3)] if rule_name == "Muon" else [(4, 3), (5,)]
    start = [rng.normal(size=shape) for shape in shapes]
    grads = [[rng.normal(size=shape) for shape in shapes] for _ in range(STEPS)]
    leaves = [tf.Variable(value) for value in start]
    state = tx.setup(getattr(tx, rule_name)(**arguments), leaves)
    for grad, expected in zip(grads, run(make, start, grads), strict=True):
        tx.update(state, leaves, [tf.constant(g) for g in grad])
        for leaf, value in zip(leaves, expected, strict=True):
            np.testing.assert_allclose(leaf, value, rtol=bound, atol=bound)


@pytest.mark.parametrize("call", [tx.trainables, lambda model: tx.setup(tx.SGD(), model)])
def test_a_variable_of_another_keras_backend_is_refused(call: Any) -> None:
    """It would be left as it is without a word."""
    variable = importlib.import_module("keras.src.backend.torch.core").Variable(np.ones(3))
    with pytest.raises(TypeError, match=r'the torch backend.*"KERAS_BACKEND"\] = "tensorflow"'):
        call([variable])
