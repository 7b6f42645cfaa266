"""What the warnings of implicit lines cost a training step.

    python tests/benchmarks/warning_cost.py [--output FILE.json]

The same Keras step with `tx.warn_implicit()` and without, in turns: `apply_gradients` called
eagerly, and in a `tf.function` that was traced with and without the warnings.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import keras
import tensorflow as tf
from machine import machine

import tfexplicit as tx

ROUNDS, STEPS = 15, 20


def eager_step() -> Callable[[], Any]:
    variables = [keras.Variable(tf.ones((64, 64))) for _ in range(20)]
    gradients = [tf.ones((64, 64)) for _ in variables]
    optimizer = keras.optimizers.SGD(1e-4)
    optimizer.build(variables)
    return lambda: optimizer.apply_gradients(zip(gradients, variables, strict=True))


def seconds(step: Callable[[], Any]) -> float:
    start = time.perf_counter()
    for _ in range(STEPS):
        step()
    return (time.perf_counter() - start) / STEPS


def compared(make: Callable[[], Callable[[], Any]]) -> dict[str, float]:
    """The median step with the warnings on and off, and the ratio of the two."""
    steps = {"off": make(), "on": make()}
    modes: dict[str, Callable[[], Any]] = {"off": contextlib.nullcontext, "on": tx.warn_implicit}
    for name, step in steps.items():
        with modes[name]():
            step()
    taken: dict[str, list[float]] = {"off": [], "on": []}
    for _ in range(ROUNDS):
        for name, step in steps.items():
            with modes[name]():
                taken[name].append(seconds(step))
    medians = {name: statistics.median(times) for name, times in taken.items()}
    return medians | {"on_to_off": medians["on"] / medians["off"]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--output", type=Path, default=Path("build/benchmarks/warning_cost.json"))
    output: Path = parser.parse_args().output
    results = {
        "eager": compared(eager_step),
        "tf.function": compared(lambda: tf.function(eager_step(), autograph=False)),
    }
    for name, figures in results.items():
        print(
            f"{name:12} off {1e3 * figures['off']:7.2f} ms, on {1e3 * figures['on']:7.2f} ms, "
            f"on to off {figures['on_to_off']:.3f}"
        )
    about = machine(["tfexplicit", "tensorflow", "keras"])
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(json.dumps({"machine": about, "seconds": results}, indent=1))


if __name__ == "__main__":
    main()
