"""TX108: the optimizer given to `compile` of a Keras model: the state is made in `compile`."""

from __future__ import annotations

from tfexplicit_codemod.registry import AtRunTime, Rule


def statement(tx: str, self: str, state: str, build: str) -> str:
    return f"{self}.{state} = {tx}.setup({self}.optimizer, {self}{build})"


def method(tx: str, state: str, build: str) -> str:
    """A `compile` for a class that has none of its own."""
    return (
        "\ndef compile(self, *args, **kwargs):\n"
        "    super().compile(*args, **kwargs)\n"
        f"    {statement(tx, 'self', state, build)}\n"
    )


rule = Rule(
    code="TX108",
    name="compiled-optimizer",
    summary="The state of the optimizer that `compile` gives to a model is made in `compile`.",
    why=(
        "`compile` is where a Keras model gets its optimizer, whatever it was given: an object, a "
        "name, nothing. There the state is made, and anew whenever the model is compiled again. "
        "`fit` and its callbacks go on with the Keras object, which shares its variables. Where "
        "the file saves or copies a model whole, a class without a `compile` of its own is left "
        "(TX204). Weights alone (`save_weights`, `BackupAndRestore`) need nothing; where they are "
        'loaded, `setup` has `build="at_first_update"`: Keras skips the slots in the file while '
        "the optimizer is not built."
    ),
    at_run_time=AtRunTime(
        does="`{optimizer}.{call}` steps the optimizer of `compile`, which keeps hidden state.",
        write=(
            "`{state} = tx.setup({optimizer}, {model})` at the end of `compile`, and "
            "`tx.update({state}, {model}, {grads})` here"
        ),
    ),
    before="""\
import tensorflow as tf

tf.keras.utils.set_random_seed(1)
x = tf.random.normal((32, 4))
y = tf.reduce_sum(x, axis=1, keepdims=True)


class Net(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = tf.keras.layers.Dense(1)

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(self.dense(x) - y))
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        return {"loss": loss}


model = Net()
model.compile(optimizer="adam")
model.fit(x, y, epochs=2, shuffle=False, verbose=2)
""",
    after="""\
import tensorflow as tf
import tfexplicit as tx

tf.keras.utils.set_random_seed(1)
x = tf.random.normal((32, 4))
y = tf.reduce_sum(x, axis=1, keepdims=True)


class Net(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = tf.keras.layers.Dense(1)

    def compile(self, *args, **kwargs):
        super().compile(*args, **kwargs)
        self.opt_state = tx.setup(self.optimizer, self)

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(self.dense(x) - y))
        grads = tape.gradient(loss, tx.trainables(self))
        tx.update(self.opt_state, self, grads)
        return {"loss": loss}


model = Net()
model.compile(optimizer="adam")
model.fit(x, y, epochs=2, shuffle=False, verbose=2)
""",
)
