"""Trajectories of Optimisers.jl (golden.json), to 1e-12 in float64.

Gradients there are given and do not depend on the leaf. Where Optimisers.jl has epsilon in another
place than Keras, a hyperparameter that is a function of the step translates it. Where none can, the
rule is held to a transcription of its own formula in NumPy, and to the golden numbers as far as the
two formulas agree.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import tfexplicit as tx

GOLDEN = json.loads((Path(__file__).parent / "golden.json").read_text())


def power(beta: float, step: Any) -> Any:
    """`step` counts from 0, as a function of the step gets it."""
    return tf.pow(tf.constant(beta, tf.float64), tf.cast(step + 1, tf.float64))


def before_bias_correction(step: Any) -> Any:
    """1e-8 after the bias correction of the second moment is this much before it."""
    return 1e-8 * tf.sqrt(1 - power(0.999, step))


def without_bias_correction(step: Any) -> Any:
    """The rate with which Adam's bias correction cancels."""
    return 0.001 * (1 - power(0.9, step)) / tf.sqrt(1 - power(0.999, step))


RULES: dict[str, tx.Rule] = {
    "Descent": tx.SGD(0.1),
    "Momentum": tx.SGD(0.01, momentum=0.9),
    "Nesterov": tx.SGD(0.001, momentum=0.9, nesterov=True),
    "Adam": tx.Adam(0.001, epsilon=before_bias_correction),
    "AdamW": tx.AdamW(0.001, weight_decay=0.0, epsilon=before_bias_correction),
    "AdamW_l0.1_couple=True": tx.AdamW(0.001, weight_decay=0.1, epsilon=before_bias_correction),
    # Not coupled: the decay is not multiplied by the learning rate.
    "AdamW_l0.1_couple=False": tx.AdamW(
        0.001, weight_decay=0.1 / 0.001, epsilon=before_bias_correction
    ),
    "AdaMax": tx.Adamax(0.001, epsilon=1e-8),
    "AdaDelta": tx.Adadelta(1.0, rho=0.9, epsilon=1e-8),
    "AMSGrad": tx.Adam(without_bias_correction, epsilon=1e-8, amsgrad=True),
    "Lion_paper": tx.Lion(0.001, beta_2=0.999),
    "Lion_paper_200": tx.Lion(0.001, beta_2=0.99),
    "Lion_paper_200_beta2_0.999": tx.Lion(0.001, beta_2=0.999),
}
# There the moments start at epsilon.
STARTS = {"AMSGrad": 1e-8}
# Held to NumPy below.
OTHER_FORMULA = {"RMSProp", "RMSProp_centred", "AdaGrad", "NAdam"}
# Optimisers.jl swaps the coefficients of Lion's momentum, which makes it the sign of the gradient.
DEFECTS = {"Lion_upstream", "Lion_upstream_200"}


def trajectory(name: str, rule: tx.Rule) -> np.ndarray:
    entry = GOLDEN[name]
    leaf = tf.Variable(entry["x0"], dtype=tf.float64)
    state = tx.setup(rule, [leaf])
    for slot in state["0"].slots.values():
        slot.assign_add(tf.fill(slot.shape, tf.cast(STARTS.get(name, 0.0), slot.dtype)))
    values = []
    for grad in entry["grads"]:
        tx.update(state, [leaf], [tf.constant(grad, tf.float64)])
        values.append(leaf.numpy())
    return np.asarray(values)


@pytest.mark.parametrize("name", RULES)
def test_rules_follow_the_golden_trajectories(name: str) -> None:
    np.testing.assert_allclose(trajectory(name, RULES[name]), GOLDEN[name]["traj"], rtol=1e-12)


def test_no_golden_trajectory_is_left_out() -> None:
    # Rules of the same name, which this module need not know.
    elsewhere = {name for name in GOLDEN if name not in RULES and not hasattr(tx, name)}
    assert elsewhere == OTHER_FORMULA | DEFECTS | {
        name for name in ("Rprop", "RAdam", "OAdam", "AdaBelief") if not hasattr(tx, name)
    }


def test_lion_is_not_the_sign_of_the_gradient() -> None:
    ours = trajectory("Lion_upstream_200", tx.Lion(0.001, beta_2=0.999))
    difference = np.abs(ours - GOLDEN["Lion_upstream_200"]["traj"]).max(axis=1)
    assert difference[:17].max() < 1e-12 < difference[17]


def rmsprop(grads: np.ndarray, centered: bool) -> list[Any]:
    """Epsilon inside the root, together with each element's own second moment."""
    velocity, average, steps = np.zeros(3), np.zeros(3), []
    for grad in grads:
        velocity = 0.9 * velocity + 0.1 * grad**2
        average = 0.9 * average + 0.1 * grad
        variance = velocity - average**2 if centered else velocity
        steps.append(0.001 * grad / np.sqrt(variance + 1e-8))
    return steps


def adagrad(grads: np.ndarray) -> list[Any]:
    accumulator, steps = np.full(3, 1e-8), []
    for grad in grads:
        accumulator = accumulator + grad**2
        steps.append(0.1 * grad / np.sqrt(accumulator + 1e-8))
    return steps


def nadam(grads: np.ndarray) -> list[Any]:
    """With the schedule of the report, which Optimisers.jl leaves out."""
    momentum, velocity, product, steps = np.zeros(3), np.zeros(3), 1.0, []
    for t, grad in enumerate(grads, start=1):
        now, then = (0.9 * (1 - 0.5 * 0.96**i) for i in (t, t + 1))
        product *= now
        momentum = 0.9 * momentum + 0.1 * grad
        velocity = 0.999 * velocity + 0.001 * grad**2
        ahead = then * momentum / (1 - product * then) + (1 - now) * grad / (1 - product)
        steps.append(0.001 * ahead / (np.sqrt(velocity / (1 - 0.999**t)) + 1e-8))
    return steps


# Golden name: our rule, its formula, and how near the golden numbers are.
TRANSCRIBED: dict[str, tuple[tx.Rule, Callable[[np.ndarray], Sequence[Any]], float]] = {
    "RMSProp": (tx.RMSprop(0.001, epsilon=1e-8), lambda g: rmsprop(g, False), 1e-8),
    "RMSProp_centred": (
        tx.RMSprop(0.001, epsilon=1e-8, centered=True),
        lambda g: rmsprop(g, True),
        1e-8,
    ),
    "AdaGrad": (tx.Adagrad(0.1, initial_accumulator_value=1e-8, epsilon=1e-8), adagrad, 1e-8),
    "NAdam": (tx.Nadam(0.001, epsilon=1e-8), nadam, 2e-3),
}


@pytest.mark.parametrize("name", TRANSCRIBED)
def test_rules_of_another_formula_follow_their_own(name: str) -> None:
    rule, formula, nearness = TRANSCRIBED[name]
    entry = GOLDEN[name]
    ours = trajectory(name, rule)
    expected = entry["x0"] - np.cumsum(formula(np.asarray(entry["grads"])), axis=0)
    np.testing.assert_allclose(ours, expected, rtol=1e-12)
    difference = np.abs(ours - entry["traj"]).max()
    print(f"{name}: {difference:.1e} from the golden numbers")
    assert 0 < difference < nearness


def test_nadam_multiplies_its_schedule_up_for_200_steps() -> None:
    entry = GOLDEN["Lion_paper_200"]
    expected = entry["x0"] - np.cumsum(nadam(np.asarray(entry["grads"])), axis=0)
    ours = trajectory("Lion_paper_200", tx.Nadam(0.001, epsilon=1e-8))
    np.testing.assert_allclose(ours, expected, rtol=1e-12)
