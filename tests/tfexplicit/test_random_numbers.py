"""The package takes nothing from the random numbers of a program that has seeded them."""

from __future__ import annotations

import os
import subprocess
import sys

# With Keras 2, nothing else of the program loads Keras 3, whose import draws from `random`.
PROGRAM = """\
import random
import numpy as np
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(2)])
model.build((None, 3))
optimizer = tf.keras.optimizers.Adam()
random.seed(1)
np.random.seed(1)
before = random.getstate(), str(np.random.get_state())

import tfexplicit as tx

opt_state = tx.setup(optimizer, model)
tx.update(opt_state, model, [tf.ones((3, 2)), tf.ones(2)])
assert (random.getstate(), str(np.random.get_state())) == before
print(opt_state.step.numpy())
"""


def test_a_program_draws_the_same_random_numbers_as_before() -> None:
    result = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        capture_output=True,
        text=True,
        env=os.environ | {"TF_USE_LEGACY_KERAS": "1"},
        check=False,
    )
    assert (result.returncode, result.stdout) == (0, "1\n"), result.stderr
