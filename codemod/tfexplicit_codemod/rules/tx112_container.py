"""TX112: A list or dict of optimizers becomes a list or dict of states."""

from __future__ import annotations

from tfexplicit_codemod.registry import Rule


def setup(tx: str, optimizers: str, models: str, is_dict: bool) -> str:
    """The states of all optimizers of a list or dict, each with the model at its place."""
    if is_dict:
        return f"{{key: {tx}.setup({optimizers}[key], {models}[key]) for key in {optimizers}}}"
    return f"[{tx}.setup(*pair) for pair in zip({optimizers}, {models})]"


rule = Rule(
    code="TX112",
    name="container-of-optimizers",
    summary="A list or dict of optimizers beside one of models becomes a list or dict of states.",
    why=(
        "Each optimizer has its own state, over the model at the same place, and `opt_states[i]` "
        "is found as the optimizer was. Both containers must be written out, or made over the "
        "same range, and stay as they are; the optimizers stay Keras objects, which setup takes."
    ),
    before="""\
import tensorflow as tf

tf.keras.utils.set_random_seed(1)
x = tf.random.normal((32, 4))
y = tf.reduce_sum(x, axis=1, keepdims=True)
models = [tf.keras.Sequential([tf.keras.layers.Dense(1)]) for _ in range(3)]
optimizers = [tf.keras.optimizers.Adam(0.01) for _ in range(3)]

for _ in range(5):
    for i in range(3):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(models[i](x, training=True) - y))
        grads = tape.gradient(loss, models[i].trainable_variables)
        optimizers[i].apply_gradients(zip(grads, models[i].trainable_variables))
        print(i, float(loss))
""",
    after="""\
import tensorflow as tf
import tfexplicit as tx

tf.keras.utils.set_random_seed(1)
x = tf.random.normal((32, 4))
y = tf.reduce_sum(x, axis=1, keepdims=True)
models = [tf.keras.Sequential([tf.keras.layers.Dense(1)]) for _ in range(3)]
optimizers = [tf.keras.optimizers.Adam(0.01) for _ in range(3)]
opt_states = [tx.setup(*pair) for pair in zip(optimizers, models)]

for _ in range(5):
    for i in range(3):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(models[i](x, training=True) - y))
        grads = tape.gradient(loss, tx.trainables(models[i]))
        tx.update(opt_states[i], models[i], grads)
        print(i, float(loss))
""",
)
