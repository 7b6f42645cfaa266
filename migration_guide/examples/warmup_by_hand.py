"""The loop reads `optimizer.iterations` and writes `optimizer.learning_rate`."""

import tensorflow as tf

tf.keras.utils.set_random_seed(15)

BASE_LR = 0.02
WARMUP_STEPS = 10

model = tf.keras.Sequential([tf.keras.layers.Dense(12, "tanh"), tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.Adam(learning_rate=0.0)
mse = tf.keras.losses.MeanSquaredError()

x = tf.random.normal((128, 4))
y = tf.math.sin(tf.reduce_sum(x, axis=1, keepdims=True))


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = mse(y, model(x, training=True))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


while optimizer.iterations < 40:
    step = int(optimizer.iterations)
    warmup = min(1.0, (step + 1) / WARMUP_STEPS)
    decay = 0.5 if step >= 30 else 1.0
    optimizer.learning_rate = BASE_LR * warmup * decay
    loss = train_step(x, y)
    if step % 10 == 0 or step == 39:
        lr = float(optimizer.learning_rate)
        print(f"iteration {int(optimizer.iterations)}: lr {lr:.4f}, loss {float(loss):.5f}")
