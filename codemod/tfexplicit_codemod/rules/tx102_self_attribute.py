"""TX102: `self.optimizer`; the state is set up where the later of optimizer and model is set."""

from __future__ import annotations

from tfexplicit_codemod.registry import AtRunTime, Rule

rule = Rule(
    code="TX102",
    name="self-attribute",
    summary="`self.optimizer.apply_gradients(...)` becomes `update` with `self.opt_state`.",
    why=(
        "The state lives where the optimizer lives. It is made once, after the later of "
        "`self.optimizer` and `self.model`, and never assigned in a step method: that may run "
        "inside a `tf.function`."
    ),
    at_run_time=AtRunTime(
        does="`{optimizer}.{call}` keeps hidden state that `self` does not show.",
        write=(
            "`{state} = tx.setup({optimizer}, {model})` once, where the later of the two is "
            "assigned, and "
            "`tx.update({state}, {model}, {grads})` here"
        ),
    ),
    before="""\
import tensorflow as tf

tf.keras.utils.set_random_seed(1)
x = tf.random.normal((32, 4))
y = tf.reduce_sum(x, axis=1, keepdims=True)


class Trainer:
    def __init__(self):
        self.optimizer = tf.keras.optimizers.Adam(learning_rate=0.01)
        self.model = tf.keras.Sequential([tf.keras.layers.Dense(1)])

    @tf.function
    def step(self, x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(self.model(x, training=True) - y))
        grads = tape.gradient(loss, self.model.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.model.trainable_variables))
        return loss


trainer = Trainer()
for _ in range(5):
    print(float(trainer.step(x, y)))
print("steps:", int(trainer.optimizer.iterations))
""",
    after="""\
import tensorflow as tf
import tfexplicit as tx

tf.keras.utils.set_random_seed(1)
x = tf.random.normal((32, 4))
y = tf.reduce_sum(x, axis=1, keepdims=True)


class Trainer:
    def __init__(self):
        self.optimizer = tf.keras.optimizers.Adam(learning_rate=0.01)
        self.model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
        self.opt_state = tx.setup(self.optimizer, self.model)

    @tf.function
    def step(self, x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(self.model(x, training=True) - y))
        grads = tape.gradient(loss, tx.trainables(self.model))
        tx.update(self.opt_state, self.model, grads)
        return loss


trainer = Trainer()
for _ in range(5):
    print(float(trainer.step(x, y)))
print("steps:", int(trainer.optimizer.iterations))
""",
)
