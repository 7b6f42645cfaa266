"""TX115: What a program reads and sets of an optimizer, it reads and sets of the state."""

from __future__ import annotations

from tfexplicit_codemod.edits import KEPT
from tfexplicit_codemod.registry import Rule


def count(state: str) -> str:
    """The number of updates, int64 as `optimizer.iterations`."""
    return f"{state}.step"


def learning_rate(tensorflow: str, state: str) -> str:
    """A state keeps more digits than Keras: float32 is what its variable had."""
    return f'{tensorflow}.cast({state}.hyper["learning_rate"], {tensorflow}.float32)'


def adjusting(tx: str, state: str) -> str:
    """The code around the new value."""
    return f"{tx}.adjust({state}, learning_rate={KEPT})"


rule = Rule(
    code="TX115",
    name="optimizer-uses",
    summary="What is read and set of an optimizer is read and set of its state.",
    why=(
        "So that the constructor can become a rule (TX103): all uses of the optimizer, or none. "
        "`iterations` is `opt_state.step`; a new learning rate goes through `tx.adjust`, which "
        "works in a traced function, too. A state keeps the learning rate in float64 and Keras in "
        "float32, so a read says float32: every number stays what it was. The optimizer stays a "
        "Keras object, which `setup` takes as it is and whose uses all stay true, where that is "
        "not certain: `variables`, whose order is Keras' own; the variable itself printed, kept "
        "under a name, put into a checkpoint or in arithmetic with more than written numbers; "
        "`optimizer.lr = ...`, which Keras 3 takes for another attribute; a learning rate that may "
        "be a schedule, which Keras 2 and Keras 3 read at different steps; the learning rate "
        "beside a model that may not be built yet; a use in another file."
    ),
    before="""\
import tensorflow as tf

tf.keras.utils.set_random_seed(1)
x = tf.random.normal((32, 4))
y = tf.reduce_sum(x, axis=1, keepdims=True)
model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.SGD(0.05, momentum=0.9)


@tf.function
def train_step(x, y):
    optimizer.learning_rate.assign(0.9 * optimizer.learning_rate)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for epoch in range(2):
    optimizer.learning_rate = 0.05 / (epoch + 1)
    for _ in range(4):
        loss = train_step(x, y)
    rate = optimizer.learning_rate.numpy()
    print(f"step {optimizer.iterations.numpy()}: {float(loss)}, learning rate {rate}")
""",
    after="""\
import tensorflow as tf
import tfexplicit as tx

tf.keras.utils.set_random_seed(1)
x = tf.random.normal((32, 4))
y = tf.reduce_sum(x, axis=1, keepdims=True)
model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(1)])
optimizer = tx.SGD(0.05, momentum=0.9)
opt_state = tx.setup(optimizer, model)


@tf.function
def train_step(x, y):
    tx.adjust(opt_state, learning_rate=0.9 * tf.cast(opt_state.hyper["learning_rate"], tf.float32))
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    grads = tape.gradient(loss, tx.trainables(model))
    tx.update(opt_state, model, grads)
    return loss


for epoch in range(2):
    tx.adjust(opt_state, learning_rate=0.05 / (epoch + 1))
    for _ in range(4):
        loss = train_step(x, y)
    rate = tf.cast(opt_state.hyper["learning_rate"], tf.float32).numpy()
    print(f"step {opt_state.step.numpy()}: {float(loss)}, learning rate {rate}")
""",
)
