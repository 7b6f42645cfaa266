"""TX106: explicit variables, `[W, b]` or `[(grad, image)]`: the state is set up on that list."""

from __future__ import annotations

from tfexplicit_codemod.registry import Rule

rule = Rule(
    code="TX106",
    name="explicit-variables",
    summary="A list of variables, `[W, b]`, is itself the model of the state.",
    why=(
        "A model is any container of variables; a list of them is the smallest. The update "
        "names the same variables in the same order as the pairs did."
    ),
    before="""\
import tensorflow as tf

tf.keras.utils.set_random_seed(1)
x = tf.random.normal((32, 4))
y = tf.reduce_sum(x, axis=1, keepdims=True)
W = tf.Variable(tf.zeros((4, 1)))
b = tf.Variable(tf.zeros((1,)))
optimizer = tf.keras.optimizers.SGD(learning_rate=0.1)

for _ in range(5):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(x @ W + b - y))
    dW, db = tape.gradient(loss, [W, b])
    optimizer.apply_gradients([(dW, W), (db, b)])
    print(float(loss))
""",
    after="""\
import tensorflow as tf
import tfexplicit as tx

tf.keras.utils.set_random_seed(1)
x = tf.random.normal((32, 4))
y = tf.reduce_sum(x, axis=1, keepdims=True)
W = tf.Variable(tf.zeros((4, 1)))
b = tf.Variable(tf.zeros((1,)))
optimizer = tx.SGD(learning_rate=0.1)
opt_state = tx.setup(optimizer, [W, b])

for _ in range(5):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(x @ W + b - y))
    dW, db = tape.gradient(loss, [W, b])
    tx.update(opt_state, [W, b], [dW, db])
    print(float(loss))
""",
)
