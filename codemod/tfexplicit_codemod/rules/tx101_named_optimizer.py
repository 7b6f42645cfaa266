"""TX101: an optimizer held by a name of a module or function, captured by functions or not."""

from __future__ import annotations

from tfexplicit_codemod.registry import AtRunTime, Rule

rule = Rule(
    code="TX101",
    name="named-optimizer",
    summary="`optimizer.apply_gradients(zip(grads, model.trainable_variables))` becomes `update`.",
    why=(
        "The optimizer hides its slots and makes them at the first update. `setup` makes the "
        "state a value with a name, and `update` assigns it in place, so a `tf.function` can "
        "read it as it read the optimizer. `setup` takes over what the Keras object holds: "
        "its step count, its learning rate and its slots stay the same variables, so "
        "everything else the program does with it stays true."
    ),
    at_run_time=AtRunTime(
        does="`{optimizer}.{call}` keeps hidden state for the variables that it is given.",
        write=(
            "`{state} = tx.setup({optimizer}, {model})` once, and "
            "`tx.update({state}, {model}, {grads})` here"
        ),
    ),
    before="""\
import tensorflow as tf

tf.keras.utils.set_random_seed(1)
x = tf.random.normal((32, 4))
y = tf.reduce_sum(x, axis=1, keepdims=True)
model = tf.keras.Sequential([tf.keras.layers.Dense(8, "tanh"), tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.Adam(learning_rate=0.01)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for _ in range(5):
    print(float(train_step(x, y)))
print("steps:", int(optimizer.iterations))
""",
    after="""\
import tensorflow as tf
import tfexplicit as tx

tf.keras.utils.set_random_seed(1)
x = tf.random.normal((32, 4))
y = tf.reduce_sum(x, axis=1, keepdims=True)
model = tf.keras.Sequential([tf.keras.layers.Dense(8, "tanh"), tf.keras.layers.Dense(1)])
optimizer = tx.Adam(learning_rate=0.01)
opt_state = tx.setup(optimizer, model)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    grads = tape.gradient(loss, tx.trainables(model))
    tx.update(opt_state, model, grads)
    return loss


for _ in range(5):
    print(float(train_step(x, y)))
print("steps:", int(opt_state.step))
""",
)
