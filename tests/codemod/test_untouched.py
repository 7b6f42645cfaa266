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
    "an_optimizer_itself": """
import tensorflow as tf
class Base:
    def apply(self, grads, trainable_variables=None):
        raise NotImplementedError
class Optimizer(Base):
    def minimize(self, loss, var_list, tape):
        self.apply_gradients(zip(tape.gradient(loss, var_list), var_list))
    def apply_gradients(self, grads_and_vars):
        grads, trainable_variables = zip(*grads_and_vars)
        self.apply(grads, trainable_variables)
""",
    "flax_without_tensorflow": """
state = state.apply_gradients(grads=grads)
""",
    "get_updates_of_something_else": """
import tensorflow as tf
print(model.trainable_variables)
bot.get_updates(offset, 100)
optimizer.get_updates()
client.get_updates(params=params, timeout=10)
class Own(tf.keras.optimizers.Optimizer):
    def get_updates(self, loss, params):
        return super().get_updates(loss, params)
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
    "tf1_wrapped_by_another_package": """
import horovod.tensorflow as hvd
import tensorflow as tf
model = tf.keras.applications.ResNet50()
opt = tf.train.GradientDescentOptimizer(0.1)
opt = hvd.DistributedOptimizer(opt, op=hvd.Average)
run(lambda: opt.minimize(loss, var_list=model.trainable_variables))
""",
    "tf1_own_optimizer_wrapped": """
import horovod.tensorflow as hvd
import tensorflow as tf
with tf.GradientTape() as tape: pass
class Test:
    def test(self):
        class Fixed(tf.compat.v1.train.Optimizer):
            def compute_gradients(self):
                return [(self.gradient, self.variable)]
        opt = hvd.DistributedOptimizer(optimizer=Fixed(name="fixed"))
        update = opt.apply_gradients(opt.compute_gradients())
""",
    "tf1_optimizer_around_another": """
import tensorflow as tf
with tf.GradientTape() as tape: pass
try:
    Base = tf.compat.v1.train.Optimizer
except AttributeError:
    Base = None
if Base is not None:
    class Summed(Base):
        def __init__(self, optimizer):
            self._optimizer = optimizer
        def apply_gradients(self, *args, **kwargs):
            return self._optimizer.apply_gradients(*args, **kwargs)
""",
    "tf1_computes_its_gradients": """
import tensorflow as tf
from elsewhere import PrivateOptimizer
with tf.GradientTape() as tape: pass
opt = PrivateOptimizer(0.1)
pairs = opt.compute_gradients(loss, model.trainable_variables)
opt.apply_gradients(pairs)
class Agent:
    def gradients(self, loss):
        return self.optimizer.compute_gradients(loss)
    def step(self, loss):
        self.optimizer.apply_gradients(self.gradients(loss))
""",
    "tf1_or_unknown": """
import tensorflow as tf
from elsewhere import private_optimizer
with tf.GradientTape() as tape: pass
if private:
    opt = private_optimizer(0.1)
else:
    opt = tf.compat.v1.train.GradientDescentOptimizer(0.1)
opt.apply_gradients(pairs)
def train(opt=None):
    opt = opt or default
    if opt is None:
        opt = tf.compat.v1.train.AdamOptimizer()
    opt.apply_gradients(pairs)
""",
    "tf1_lists_the_graph": """
import tensorflow as tf
params = tf.trainable_variables()
def append(opt, grads):
    return [opt.apply_gradients(zip(grads, params))]
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
    "torch_imported": """
import keras
import torch
class Net(keras.Model):
    def train_step(self, data):
        with torch.no_grad():
            self.optimizer.apply(gradients, self.trainable_weights)
""",
    "already_explicit": """
import tensorflow as tf
import tfexplicit as tx
opt_state = tx.setup(tx.Adam(), model)
grads = tape.gradient(loss, tx.trainables(model))
tx.update(opt_state, model, grads)
""",
    "tf1_session": """
import tensorflow as tf
print(tf.keras.optimizers.Adam)
opt = wrapped(optimizer)
session.run(opt.apply_gradients(pairs))
""",
    "scipy_of_another_name": """
import tensorflow as tf
with tf.GradientTape() as tape: pass
opt = find()
opt.minimize(loss, [0.0, 1.0])
opt.minimize(loss, make(x))
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
