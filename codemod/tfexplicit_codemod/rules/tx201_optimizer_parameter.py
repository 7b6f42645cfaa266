"""TX201: the optimizer is a parameter, and not all that is done with it is in sight."""

from __future__ import annotations

from tfexplicit_codemod.leave import Leave
from tfexplicit_codemod.registry import Rule


def leave(parameter: str, function: str, why: str = "comes from callers out of sight") -> Leave:
    return Leave(rule.code, f"`{parameter}` of `{function}` {why}")


rule = Rule(
    code="TX201",
    name="optimizer-parameter",
    summary="The optimizer is a parameter, and not all that is done with it is in sight.",
    why=(
        "Whoever calls the function decides which optimizer it gets, and here a caller is out of "
        "sight, or may give none. Make the state where the optimizer is made, and pass the state "
        "instead: `train_step(model, opt_state, x, y)`. One that is made in the call itself, as in "
        "`train(model, tf.keras.optimizers.Adam())`, has no name to make a state of: name it on "
        "the line before, and run `migrate` again."
    ),
    before="""\
import tensorflow as tf

tf.keras.utils.set_random_seed(1)
x = tf.random.normal((32, 4))
y = tf.reduce_sum(x, axis=1, keepdims=True)
model = tf.keras.Sequential([tf.keras.layers.Dense(8, "tanh"), tf.keras.layers.Dense(1)])
adam = tf.keras.optimizers.Adam(0.01)


def train_step(model, x, y, optimizer=adam):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for _ in range(5):
    print(float(train_step(model, x, y)))
""",
    after="""\
import tensorflow as tf

tf.keras.utils.set_random_seed(1)
x = tf.random.normal((32, 4))
y = tf.reduce_sum(x, axis=1, keepdims=True)
model = tf.keras.Sequential([tf.keras.layers.Dense(8, "tanh"), tf.keras.layers.Dense(1)])
adam = tf.keras.optimizers.Adam(0.01)


def train_step(model, x, y, optimizer=adam):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    grads = tape.gradient(loss, model.trainable_variables)
    # TODO(tfexplicit TX201): `optimizer` of `train_step` has a default
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for _ in range(5):
    print(float(train_step(model, x, y)))
""",
)
