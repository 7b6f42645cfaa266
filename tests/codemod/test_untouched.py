"""Calls that look like an update and are none of ours: no edit, no TODO, no site."""

from __future__ import annotations

from pathlib import Path

import pytest
from tfexplicit_codemod.engine import migrate_source
from tfexplicit_codemod.outcome import Outcome

TRAPS = {
    "flax_train_state": """
import tensorflow as tf
from flax.training import train_state
def step(state, grads):
    return state.apply_gradients(grads=grads)
print(model.trainable_variables)
""",
    "flax_without_tensorflow": """
state = state.apply_gradients(grads=grads)
""",
    "optax": """
import optax
import tensorflow as tf
optimizer = optax.adam(1e-3)
optimizer.apply(grads, model.trainable_variables)
""",
    "scipy_minimize": """
import scipy.optimize
import tensorflow as tf
with tf.GradientTape() as tape: pass
scipy.optimize.minimize(f, x0)
""",
    "gpflow_scipy": """
import gpflow
import tensorflow as tf
with tf.GradientTape() as tape: pass
opt = gpflow.optimizers.Scipy()
opt.minimize(closure, model.trainable_variables)
gpflow.optimizers.NaturalGradient(0.1).minimize(closure, var_list=variables)
""",
    "sonnet": """
import sonnet as snt
import tensorflow as tf
opt = snt.optimizers.Adam()
with tf.GradientTape() as tape: pass
opt.apply(grads, model.trainable_variables)
""",
    "tf1_graph": """
import tensorflow as tf
optimizer = tf.train.AdamOptimizer()
train = optimizer.apply_gradients(zip(grads, variables), global_step=step)
optimizer.minimize(loss, var_list=variables)
""",
    "tf1_compat": """
import tensorflow.compat.v1 as tf
optimizer = tf.train.AdamOptimizer()
optimizer.apply_gradients(zip(grads, tf.trainable_variables()))
""",
    "tf1_eager_with_tape": """
import tensorflow as tf
optimizer = tf.compat.v1.train.GradientDescentOptimizer(0.1)
with tf.GradientTape() as tape: pass
optimizer.apply_gradients(zip(grads, model.trainable_variables), global_step)
""",
    "tf1_unknown_receiver": """
import tensorflow as tf
with tf.GradientTape() as tape: pass
class Agent:
    def build(self):
        self.train_op = self.optimizer.minimize(self.loss)
""",
    "own_class_of_the_same_name": """
import tensorflow as tf
class Adam:
    def apply_gradients(self, grads, variables): pass
optimizer = Adam()
optimizer.apply_gradients(grads, model.trainable_variables)
""",
    "own_module": """
import tensorflow as tf
class Optimizer(tf.Module):
    def apply_gradients(self, pairs): pass
optimizer = Optimizer()
optimizer.apply_gradients(zip(grads, model.trainable_variables))
""",
    "super_in_optimizer_class": """
import tensorflow as tf
class Warm(tf.keras.optimizers.Adam):
    def apply_gradients(self, pairs):
        return super().apply_gradients(pairs)
""",
    "torch_backend": """
import os
os.environ["KERAS_BACKEND"] = "torch"
import keras
optimizer = keras.optimizers.Adam()
optimizer.apply(grads, model.trainable_variables)
""",
    "jax_backend": """
import os
os.environ["KERAS_BACKEND"] = "jax"
import keras
optimizer = keras.optimizers.Adam()
optimizer.apply(grads, model.trainable_variables)
""",
    "already_explicit": """
import tensorflow as tf
import tfexplicit as tx
opt_state = tx.setup(tx.Adam(), model)
grads = tape.gradient(loss, tx.trainables(model))
tx.update(opt_state, model, grads)
""",
    "pandas_apply": """
import pandas as pd
import tensorflow as tf
frame.apply(f, axis=1)
frame.apply(f, model.trainable_variables, 1)
print(model.trainable_variables)
""",
    "schedule": """
import tensorflow as tf
rate = tf.keras.optimizers.schedules.ExponentialDecay(0.1, 1, 0.9)
rate.apply(step)
""",
    "text_only": '''
"""Call optimizer.apply_gradients(zip(grads, model.trainable_variables))."""
# optimizer.apply_gradients(zip(grads, model.trainable_variables))
''',
    "empty": "",
}


@pytest.mark.parametrize("name", TRAPS)
def test_bug_38_a_trap_is_left_alone(name: str) -> None:
    source = TRAPS[name].encode()
    result = migrate_source(source, Path("trap.py"))
    assert (result.outcome, result.sites, result.after) == (Outcome.UNCHANGED, (), None)
    assert result.before == source
