"""TX209: the optimizer is an element of a list or dict."""

from __future__ import annotations

from tfexplicit_codemod.leave import Leave
from tfexplicit_codemod.registry import Rule


def leave(receiver: str) -> Leave:
    return Leave(rule.code, f"`{receiver}` is an element of a container")


rule = Rule(
    code="TX209",
    name="optimizer-in-container",
    summary="The optimizer is an element of a list or dict.",
    why=(
        "A list or dict of optimizers becomes a list or dict of states where it stands beside one "
        "of models of the same length and both are read at the same place (TX112). Otherwise it is "
        "not sure which model an optimizer steps. Make a list or dict of states yourself."
    ),
    before="""\
import tensorflow as tf

tf.keras.utils.set_random_seed(1)
x = tf.random.normal((32, 4))
y = tf.reduce_sum(x, axis=1, keepdims=True)
model = tf.keras.Sequential([tf.keras.layers.Dense(8, "tanh"), tf.keras.layers.Dense(1)])
optimizers = {"model": tf.keras.optimizers.Adam(0.01)}

for _ in range(5):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizers["model"].apply_gradients(zip(grads, model.trainable_variables))
    print(float(loss))
""",
    after="""\
import tensorflow as tf

tf.keras.utils.set_random_seed(1)
x = tf.random.normal((32, 4))
y = tf.reduce_sum(x, axis=1, keepdims=True)
model = tf.keras.Sequential([tf.keras.layers.Dense(8, "tanh"), tf.keras.layers.Dense(1)])
optimizers = {"model": tf.keras.optimizers.Adam(0.01)}

for _ in range(5):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    grads = tape.gradient(loss, model.trainable_variables)
    # TODO(tfexplicit TX209): `optimizers["model"]` is an element of a container
    optimizers["model"].apply_gradients(zip(grads, model.trainable_variables))
    print(float(loss))
""",
)
