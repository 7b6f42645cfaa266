"""TX110: `model.variables` in place of `model.trainable_variables`: the model is the same."""

from __future__ import annotations

from tfexplicit_codemod.registry import Rule

rule = Rule(
    code="TX110",
    name="all-variables",
    summary="`model.variables`, where only the trainable ones have gradients, is the model too.",
    why=(
        "The tape gives None for what is not trainable, such as the statistics of batch "
        "normalisation, and Keras passes over it. So the same leaves train, in the same order. "
        "Where layers are frozen, variables are watched by hand or the longer list of gradients is "
        "used elsewhere, the site is left."
    ),
    before="""\
import tensorflow as tf

tf.keras.utils.set_random_seed(1)
x = tf.random.normal((32, 4))
y = tf.reduce_sum(x, axis=1, keepdims=True)
model = tf.keras.Sequential(
    [tf.keras.layers.Dense(8), tf.keras.layers.BatchNormalization(), tf.keras.layers.Dense(1)]
)
optimizer = tf.keras.optimizers.Adam(learning_rate=0.01)

for _ in range(5):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    grads = tape.gradient(loss, model.variables)
    optimizer.apply_gradients(grads_and_vars=zip(grads, model.variables))
    print(float(loss))
""",
    after="""\
import tensorflow as tf
import tfexplicit as tx

tf.keras.utils.set_random_seed(1)
x = tf.random.normal((32, 4))
y = tf.reduce_sum(x, axis=1, keepdims=True)
model = tf.keras.Sequential(
    [tf.keras.layers.Dense(8), tf.keras.layers.BatchNormalization(), tf.keras.layers.Dense(1)]
)
optimizer = tx.Adam(learning_rate=0.01)
opt_state = tx.setup(optimizer, model)

for _ in range(5):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    grads = tape.gradient(loss, tx.trainables(model))
    tx.update(opt_state, model, grads)
    print(float(loss))
""",
)
