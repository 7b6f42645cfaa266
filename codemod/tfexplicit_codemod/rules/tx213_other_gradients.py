"""TX213: the gradients were taken by other variables than are updated."""

from __future__ import annotations

from tfexplicit_codemod.leave import Leave
from tfexplicit_codemod.registry import Rule


def leave(sources: str, variables: str) -> Leave:
    return Leave(rule.code, f"gradients by `{sources}`, not `{variables}`")


rule = Rule(
    code="TX213",
    name="other-gradients",
    summary="The gradients were taken by other variables than are updated.",
    why=(
        "Gradients of one model that update another (a worker and its shared model) are "
        "matched by place, not by variable. Check that this is meant, then write the update "
        "of the model by hand."
    ),
    before="""\
import tensorflow as tf

tf.keras.utils.set_random_seed(1)
x = tf.random.normal((32, 4))
y = tf.reduce_sum(x, axis=1, keepdims=True)
net = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(1)])
twin = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.Adam(0.01)

for _ in range(5):
    twin.set_weights(net.get_weights())
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(twin(x) - y))
    grads = tape.gradient(loss, twin.trainable_variables)
    optimizer.apply_gradients(zip(grads, net.trainable_variables))
    print(float(loss))
""",
    after="""\
import tensorflow as tf

tf.keras.utils.set_random_seed(1)
x = tf.random.normal((32, 4))
y = tf.reduce_sum(x, axis=1, keepdims=True)
net = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(1)])
twin = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.Adam(0.01)

for _ in range(5):
    twin.set_weights(net.get_weights())
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(twin(x) - y))
    grads = tape.gradient(loss, twin.trainable_variables)
    # TODO(tfexplicit TX213): gradients by `twin.trainable_variables`, not `net.trainable_variables`
    optimizer.apply_gradients(zip(grads, net.trainable_variables))
    print(float(loss))
""",
)
