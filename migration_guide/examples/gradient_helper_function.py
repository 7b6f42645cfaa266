"""The gradients pass through helper functions (noise, then centralisation) before the update."""

import tensorflow as tf

tf.keras.utils.set_random_seed(11)


def centralize(gradients):
    """Subtract the mean over all but the last axis from each matrix gradient."""
    out = []
    for g in gradients:
        if len(g.shape) > 1:
            g = g - tf.reduce_mean(g, axis=list(range(len(g.shape) - 1)), keepdims=True)
        out.append(g)
    return out


def add_noise(gradients, stddev):
    return [g + tf.random.normal(tf.shape(g), stddev=stddev, seed=11) for g in gradients]


def compute_gradients(model, x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.keras.losses.mse(y, model(x)))
    return loss, tape.gradient(loss, model.trainable_variables)


model = tf.keras.Sequential([tf.keras.layers.Dense(10, activation="elu"), tf.keras.layers.Dense(2)])
optimizer = tf.keras.optimizers.Adam(learning_rate=0.01)

x = tf.random.normal((200, 5))
y = tf.stack([tf.reduce_sum(x, axis=1), x[:, 0] * x[:, 1]], axis=1)


@tf.function
def train_on_batch(x, y):
    loss, grads = compute_gradients(model, x, y)
    grads = centralize(add_noise(grads, 1e-3))
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for step in range(30):
    loss = train_on_batch(x, y)
    if step % 10 == 0 or step == 29:
        tf.print("step", step, "loss", loss)
