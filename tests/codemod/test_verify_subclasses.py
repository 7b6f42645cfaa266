"""A user's optimizer class that does more than its base: the update that the program asks for is
recorded, before migration and after."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest
from tfexplicit_codemod.engine import migrate_source
from tfexplicit_codemod.verify.compare import compare

PROGRAM = """\
import tensorflow as tf
import KERAS as keras

keras.utils.set_random_seed(1)
model = keras.Sequential([keras.layers.Dense(2)])
x = tf.random.normal((8, 3))
model(x)


class Own(keras.optimizers.BASE):
    DOES


optimizer = Own(0.1)


DECORATOR
def step():
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x) - x[:, :2]) ** 2)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))


for _ in range(4):
    step()
"""

CHANGES_GRADIENTS = """\
    def apply_gradients(self, grads_and_vars, *args, **kwargs):
        pairs = []
        for grad, variable in grads_and_vars:
            if tf.reduce_sum(grad) > 100.0:
                grad = grad * 0.1
            pairs.append((grad - tf.reduce_mean(grad), variable))
        return super().apply_gradients(pairs, *args, **kwargs)
"""
STEPS_EVERY_SECOND_TIME = """\
    waiting = None

    def apply_gradients(self, grads_and_vars, *args, **kwargs):
        pairs = list(grads_and_vars)
        if self.waiting is None:
            self.waiting = [grad for grad, _ in pairs]
            return
        summed = [(grad + more, v) for (grad, v), more in zip(pairs, self.waiting)]
        self.waiting = None
        super().apply_gradients(summed, *args, **kwargs)
"""
STEPS_BY_ITSELF = """\
    def apply(self, grads, trainable_variables=None):
        for grad, variable in zip(grads, trainable_variables):
            variable.assign_sub(0.1 * grad)
"""


@pytest.mark.parametrize(
    ("keras", "base", "does", "decorator"),
    [
        ("keras", "SGD", CHANGES_GRADIENTS, "@tf.function"),
        ("tf_keras", "SGD", CHANGES_GRADIENTS, ""),
        ("tf_keras", "legacy.SGD", CHANGES_GRADIENTS, "@tf.function"),
        ("keras", "SGD", STEPS_EVERY_SECOND_TIME, ""),
        ("keras", "SGD", STEPS_BY_ITSELF, "@tf.function"),
    ],
)
def test_it_trains_as_before(
    keras: str, base: str, does: str, decorator: str, recording: ModuleType, tmp_path: Path
) -> None:
    program = PROGRAM.replace("KERAS", keras).replace("BASE", base).replace("    DOES\n", does)
    program = program.replace("DECORATOR\n", f"{decorator}\n" if decorator else "")
    migrated = migrate_source(program.encode(), Path("program.py")).after
    assert migrated is not None
    assert b"tx.update(opt_state, model, grads)" in migrated
    before = recording.record(program, tmp_path / "before")
    after = recording.record(migrated.decode(), tmp_path / "after")
    assert len(before.updates) == 4
    comparison = compare(before, after)
    assert comparison.equal, comparison.first
