"""TX114: an optimizer that callers give has its state made where it is kept."""

from __future__ import annotations

from tfexplicit_codemod.registry import Rule


def unless_none(optimizer: str, state: str) -> str:
    """The state; None for callers that give no optimizer."""
    return f"None if {optimizer} is None else {state}"


rule = Rule(
    code="TX114",
    name="given-optimizer",
    summary="An optimizer that callers give has its state made where it is kept.",
    why=(
        "The callers go on giving the optimizer, so none of them need be in sight: `setup` takes "
        "over the object, whose step count, learning rate and slots stay its own. An object that "
        "is no Keras optimizer, but has an `apply_gradients`, goes on stepping by that. Callers "
        "that only want to predict may give None, which has no state. A function that is itself "
        "the step is given the state instead (TX109), or left (TX201)."
    ),
    before="""\
import tensorflow as tf


class Trainer:
    def __init__(self, model, optimizer):
        self.model = model
        self.optimizer = optimizer

    @tf.function
    def step(self, x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(self.model(x, training=True) - y))
        grads = tape.gradient(loss, self.model.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.model.trainable_variables))
        return loss


tf.keras.utils.set_random_seed(1)
x = tf.random.normal((32, 4))
y = tf.reduce_sum(x, axis=1, keepdims=True)
optimizers = {"adam": tf.keras.optimizers.Adam(0.01)}
trainer = Trainer(tf.keras.Sequential([tf.keras.layers.Dense(1)]), optimizers["adam"])
idle = Trainer(trainer.model, None)
for _ in range(5):
    print(float(trainer.step(x, y)))
print("steps:", int(optimizers["adam"].iterations))
""",
    after="""\
import tensorflow as tf
import tfexplicit as tx


class Trainer:
    def __init__(self, model, optimizer):
        self.model = model
        self.optimizer = optimizer
        self.opt_state = None if self.optimizer is None else tx.setup(self.optimizer, self.model)

    @tf.function
    def step(self, x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(self.model(x, training=True) - y))
        grads = tape.gradient(loss, tx.trainables(self.model))
        tx.update(self.opt_state, self.model, grads)
        return loss


tf.keras.utils.set_random_seed(1)
x = tf.random.normal((32, 4))
y = tf.reduce_sum(x, axis=1, keepdims=True)
optimizers = {"adam": tf.keras.optimizers.Adam(0.01)}
trainer = Trainer(tf.keras.Sequential([tf.keras.layers.Dense(1)]), optimizers["adam"])
idle = Trainer(trainer.model, None)
for _ in range(5):
    print(float(trainer.step(x, y)))
print("steps:", int(optimizers["adam"].iterations))
""",
)
