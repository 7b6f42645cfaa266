"""TX205: the receiver cannot be proven to be a Keras optimizer."""

from __future__ import annotations

from tfexplicit_codemod.leave import Leave
from tfexplicit_codemod.registry import Rule


def leave(receiver: str) -> Leave:
    return Leave(rule.code, f"cannot prove that `{receiver}` is a Keras optimizer")


def leave_for_all_backends(receiver: str) -> Leave:
    return Leave(rule.code, f"`{receiver}` may run on another backend of Keras than TensorFlow")


rule = Rule(
    code="TX205",
    name="unproven-optimizer",
    summary="The receiver cannot be proven to be a Keras optimizer.",
    why=(
        "Other libraries have a method of this name too, and their optimizers must not be "
        "touched. Write the constructor where it can be seen, or make the change by hand. In a "
        "file that runs on every backend of Keras, the optimizer is not TensorFlow's alone."
    ),
    before="""\
import tensorflow as tf

tf.keras.utils.set_random_seed(1)
x = tf.random.normal((32, 4))
y = tf.reduce_sum(x, axis=1, keepdims=True)
model = tf.keras.Sequential([tf.keras.layers.Dense(8, "tanh"), tf.keras.layers.Dense(1)])
optimizer = getattr(tf.keras.optimizers, "Adam")(0.01)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for _ in range(5):
    print(float(train_step(x, y)))
""",
    after="""\
import tensorflow as tf

tf.keras.utils.set_random_seed(1)
x = tf.random.normal((32, 4))
y = tf.reduce_sum(x, axis=1, keepdims=True)
model = tf.keras.Sequential([tf.keras.layers.Dense(8, "tanh"), tf.keras.layers.Dense(1)])
optimizer = getattr(tf.keras.optimizers, "Adam")(0.01)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    grads = tape.gradient(loss, model.trainable_variables)
    # TODO(tfexplicit TX205): cannot prove that `optimizer` is a Keras optimizer
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for _ in range(5):
    print(float(train_step(x, y)))
""",
)
