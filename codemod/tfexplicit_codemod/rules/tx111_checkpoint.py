"""TX111: An optimizer that is reached through a checkpoint has its state beside it."""

from __future__ import annotations

from tfexplicit_codemod.registry import Rule

rule = Rule(
    code="TX111",
    name="checkpoint-attribute",
    summary="An optimizer that is reached through a checkpoint has its state beside it.",
    why=(
        "The checkpoint keeps the Keras object under its name, so that old checkpoints are found, "
        "and setup takes that object over: its slots and step count are the state, saved and "
        "restored as before. The same holds for a model that is reached as `checkpoint.model`."
    ),
    before="""\
import tempfile

import tensorflow as tf


class Trainer:
    def __init__(self, model):
        self.checkpoint = tf.train.Checkpoint(optimizer=tf.keras.optimizers.Adam(0.01), model=model)

    @tf.function
    def train_step(self, x, y):
        model = self.checkpoint.model
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
        grads = tape.gradient(loss, model.trainable_variables)
        self.checkpoint.optimizer.apply_gradients(zip(grads, model.trainable_variables))
        return loss


tf.keras.utils.set_random_seed(1)
x, y = tf.random.normal((32, 4)), tf.ones((32, 1))
trainer = Trainer(tf.keras.Sequential([tf.keras.layers.Dense(8, "tanh"), tf.keras.layers.Dense(1)]))
for _ in range(3):
    print(float(trainer.train_step(x, y)))
saved = trainer.checkpoint.save(tempfile.mkdtemp() + "/ckpt")
print(float(trainer.train_step(x, y)))
trainer.checkpoint.restore(saved)
print(float(trainer.train_step(x, y)))
""",
    after="""\
import tempfile

import tensorflow as tf
import tfexplicit as tx


class Trainer:
    def __init__(self, model):
        self.checkpoint = tf.train.Checkpoint(optimizer=tf.keras.optimizers.Adam(0.01), model=model)
        self.opt_state = tx.setup(self.checkpoint.optimizer, self.checkpoint.model)

    @tf.function
    def train_step(self, x, y):
        model = self.checkpoint.model
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
        grads = tape.gradient(loss, tx.trainables(model))
        tx.update(self.opt_state, model, grads)
        return loss


tf.keras.utils.set_random_seed(1)
x, y = tf.random.normal((32, 4)), tf.ones((32, 1))
trainer = Trainer(tf.keras.Sequential([tf.keras.layers.Dense(8, "tanh"), tf.keras.layers.Dense(1)]))
for _ in range(3):
    print(float(trainer.train_step(x, y)))
saved = trainer.checkpoint.save(tempfile.mkdtemp() + "/ckpt")
print(float(trainer.train_step(x, y)))
trainer.checkpoint.restore(saved)
print(float(trainer.train_step(x, y)))
""",
)
