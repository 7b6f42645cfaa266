"""Adam under a cosine learning-rate schedule."""

import tensorflow as tf
from sklearn.datasets import make_moons
from tensorflow import keras
from tensorflow.keras import layers

keras.utils.set_random_seed(12)
STEPS = 36

x, y = make_moons(300, noise=0.15, random_state=12)
x = tf.constant(x, tf.float32)
y = tf.constant(y[:, None], tf.float32)

model = keras.Sequential([layers.Dense(16, "relu"), layers.Dense(16, "relu"), layers.Dense(1)])
lr_schedule = keras.optimizers.schedules.CosineDecay(
    initial_learning_rate=0.03, decay_steps=STEPS, alpha=0.1
)
optimizer = keras.optimizers.Adam(learning_rate=lr_schedule)
bce = keras.losses.BinaryCrossentropy(from_logits=True)


@tf.function
def train_step():
    with tf.GradientTape() as tape:
        loss = bce(y, model(x, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for step in range(STEPS):
    loss = train_step()
    if step % 12 == 0 or step == STEPS - 1:
        print(f"step {step:2d}  loss {loss:.4f}")
