"""TX113: A list filtered from a model's variables is found in the state of the model.

So is `tape.watched_variables()`, where all that the tape has seen are models: see `watched.py`.
"""

from __future__ import annotations

from tfexplicit_codemod.registry import Rule

# The argument of `setup` with which an optimizer of Keras is built as the site has it.
AT_FIRST_UPDATE = ', build="at_first_update"'

rule = Rule(
    code="TX113",
    name="filtered-list",
    summary="A list filtered from a model's variables is found in the state of the model.",
    why=(
        "The state has all leaves of the model, and a step finds those that it is given among "
        "them: the others keep their values. `tape.watched_variables()` is such a list too, where "
        "the block of the tape calls nothing but models, losses and functions of TensorFlow, and "
        "where nothing is frozen; and so is one that puts variables in an order of its own. An "
        "optimizer that stays one of Keras is built at the first update, on the list and in its "
        'order, by which checkpoints know the slots: `setup` has `build="at_first_update"`. A list '
        "that is mapped, or that is a part of what a step names, is left; so is such a list in "
        "`minimize`, or for an optimizer that is a parameter."
    ),
    before="""\
import tensorflow as tf

tf.keras.utils.set_random_seed(1)
x = tf.random.normal((32, 4))
y = tf.reduce_sum(x, axis=1, keepdims=True)
model = tf.keras.Sequential([tf.keras.layers.Dense(8, "tanh"), tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.Adam(0.01)

for _ in range(5):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    kernels = [v for v in model.trainable_variables if len(v.shape) == 2]
    grads = tape.gradient(loss, kernels)
    optimizer.apply_gradients(zip(grads, kernels))
    print(float(loss))
""",
    after="""\
import tensorflow as tf
import tfexplicit as tx

tf.keras.utils.set_random_seed(1)
x = tf.random.normal((32, 4))
y = tf.reduce_sum(x, axis=1, keepdims=True)
model = tf.keras.Sequential([tf.keras.layers.Dense(8, "tanh"), tf.keras.layers.Dense(1)])
optimizer = tx.Adam(0.01)
opt_state = tx.setup(optimizer, model)

for _ in range(5):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    kernels = [v for v in model.trainable_variables if len(v.shape) == 2]
    grads = tape.gradient(loss, kernels)
    tx.update(opt_state, kernels, grads)
    print(float(loss))
""",
)
