"""TX212: the (gradient, variable) pairs are not understood."""

from __future__ import annotations

from tfexplicit_codemod.leave import Leave
from tfexplicit_codemod.registry import Rule


def leave(pairs: str) -> Leave:
    return Leave(rule.code, f"cannot tell the gradients in `{pairs}`")


rule = Rule(
    code="TX212",
    name="pairs",
    summary="The (gradient, variable) pairs are not understood.",
    why=(
        "The gradients and the variables must be told apart, in order. Give the helper the "
        "gradients alone, and zip in the call."
    ),
    before="""\
import tensorflow as tf

tf.keras.utils.set_random_seed(1)
x = tf.random.normal((32, 4))
y = tf.reduce_sum(x, axis=1, keepdims=True)
model = tf.keras.Sequential([tf.keras.layers.Dense(8, "tanh"), tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.Adam(0.01)


def clip(pairs):
    return [(tf.clip_by_norm(grad, 1.0), variable) for grad, variable in pairs]


for _ in range(5):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(clip(zip(grads, model.trainable_variables)))
    print(float(loss))
""",
    after="""\
import tensorflow as tf

tf.keras.utils.set_random_seed(1)
x = tf.random.normal((32, 4))
y = tf.reduce_sum(x, axis=1, keepdims=True)
model = tf.keras.Sequential([tf.keras.layers.Dense(8, "tanh"), tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.Adam(0.01)


def clip(pairs):
    return [(tf.clip_by_norm(grad, 1.0), variable) for grad, variable in pairs]


for _ in range(5):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    grads = tape.gradient(loss, model.trainable_variables)
    # TODO(tfexplicit TX212): cannot tell the gradients in `clip(zip(grads, model.trainable_v...`
    optimizer.apply_gradients(clip(zip(grads, model.trainable_variables)))
    print(float(loss))
""",
)
