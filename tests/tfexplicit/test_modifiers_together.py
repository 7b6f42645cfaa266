"""All modifiers in one rule: in place, pure and compiled by XLA they do the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

import tfexplicit as tx

STEPS = 9
SHAPES = {"kernel": (3, 4), "bias": (4,), "head": (4, 2)}


def everything() -> tx.Rule:
    adam = tx.Chain(tx.SignDecay(1e-3), tx.Adam(tx.Warmup(0.1, 3)))
    parts = tx.Partition({"bias": tx.SGD(0.1, momentum=0.9), "**": adam})
    return tx.MixedPrecision(
        tx.Chain(
            tx.LossScale(4.0, dynamic_growth_steps=2),
            tx.SkipNonFinite(max_in_a_row=3),
            tx.Centralize(),
            tx.AccumulateGrads(2),
            tx.AdaptiveClip(0.5),
            tx.ClipByGlobalNorm(1.0),
            tx.WeightDecay(1e-3, where="**/kernel"),
            parts,
            tx.DecoupledWeightDecay(0.01),
            tx.Lookahead(2),
            tx.EMA(0.9, overwrite_frequency=3),
        )
    )


def start() -> dict[str, Any]:
    rng = np.random.default_rng(5)
    values = {name: rng.normal(size=shape).astype("float32") for name, shape in SHAPES.items()}
    return values | {"head": values["head"].astype("float16")}


def grads_at(step: int) -> dict[str, Any]:
    """One is not finite, some are missing."""
    rng = np.random.default_rng(50 + step)
    grads = {
        name: tf.constant(rng.normal(size=shape), "float16" if name == "head" else "float32")
        for name, shape in SHAPES.items()
    }
    if step == 3:
        grads["bias"] = grads["bias"] * float("inf")
    return grads | ({"kernel": None} if step % 5 == 4 else {})


def numbers(state: Any, model: Any) -> list[Any]:
    slots = [cell for path in sorted(state.paths) for cell in state[path].slots.values()]
    scalars = [cell for group in state.groups for cell in group.shared.values()]
    return [np.asarray(v) for v in [*(model[name] for name in sorted(model)), *slots, *scalars]]


def in_place(jit: bool) -> list[Any]:
    model = {name: tf.Variable(value, name=name) for name, value in start().items()}
    state = tx.setup(everything(), model)
    step = tf.function(lambda grads: tx.update(state, model, grads) and None, jit_compile=jit)
    for count in range(STEPS):
        step(grads_at(count))
        if count == 6:
            tx.adjust(state, weight_decay=0.02, clip_factor=0.3)
    assert step.experimental_get_tracing_count() == 2  # With all gradients, and without one.
    assert all(np.isfinite(array).all() for array in numbers(state, model))
    return numbers(state, model)


def pure() -> list[Any]:
    values: Any = {name: tf.constant(value) for name, value in start().items()}
    state: Any = tx.setup(everything(), values)
    for count in range(STEPS):
        state, values = tx.updated(state, values, grads_at(count))
        if count == 6:
            state = tx.adjusted(state, weight_decay=0.02, clip_factor=0.3)
    return numbers(state, values)


def test_in_place_pure_and_xla_agree() -> None:
    plain = in_place(jit=False)
    for other in (in_place(jit=True), pure()):
        for ours, theirs in zip(plain, other, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=2e-3, atol=2e-4)
