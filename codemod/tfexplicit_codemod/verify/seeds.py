"""The same seeds for every program, also for the sources that ask the system for a seed, and sums
in the order in which the program writes them."""

from __future__ import annotations

import functools
import itertools
import random
from types import ModuleType
from typing import Any

SEED = 0


def seed_python() -> None:
    random.seed(SEED)


def seed_numpy(numpy: ModuleType) -> None:
    numpy.random.seed(SEED)
    default_rng, count = numpy.random.default_rng, itertools.count(SEED)

    @functools.wraps(default_rng)
    def seeded_rng(seed: Any = None) -> Any:
        return default_rng(next(count) if seed is None else seed)

    numpy.random.default_rng = seeded_rng


def seed_tensorflow(tensorflow: ModuleType) -> None:
    tensorflow.random.set_seed(SEED)
    tensorflow.config.experimental.enable_op_determinism()
    _seed_generators(tensorflow.random)


def keep_sums_in_order(tensorflow: ModuleType) -> None:
    """TensorFlow sorts what it adds up by the names of ops, which the other ops of a graph affect:
    gradients that are written alike would be rounded otherwise where they are applied otherwise."""
    tensorflow.config.optimizer.set_experimental_options({"arithmetic_optimization": False})


def _seed_generators(tf_random: Any) -> None:
    """TensorFlow refuses to make these where ops are deterministic, unless it is given a seed."""
    generator, get_global = tf_random.Generator, tf_random.get_global_generator
    count = itertools.count(SEED)

    @functools.wraps(generator.from_non_deterministic_state)
    def from_seed(_: Any, alg: Any = None) -> Any:
        return generator.from_seed(next(count), alg)

    @functools.wraps(get_global)
    def get_global_generator() -> Any:
        try:
            return get_global()
        except RuntimeError:
            tf_random.set_global_generator(generator.from_seed(SEED))
            return get_global()

    generator.from_non_deterministic_state = classmethod(from_seed)
    tf_random.get_global_generator = get_global_generator
