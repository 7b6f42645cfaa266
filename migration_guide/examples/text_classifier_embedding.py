"""A text classifier: its embedding table gets a sparse gradient in which words repeat."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(11)
VOCABULARY, LENGTH = 40, 12

rng = np.random.default_rng(11)
words = rng.integers(1, VOCABULARY, size=(128, LENGTH))
labels = (words < 10).any(axis=1).astype("float32")[:, None]
dataset = tf.data.Dataset.from_tensor_slices((words, labels)).batch(32)

model = tf.keras.Sequential(
    [
        tf.keras.layers.Embedding(VOCABULARY, 8),
        tf.keras.layers.GlobalAveragePooling1D(),
        tf.keras.layers.Dense(1),
    ]
)
loss_fn = tf.keras.losses.BinaryCrossentropy(from_logits=True)
optimizer = tf.keras.optimizers.Adam(learning_rate=0.05)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


for epoch in range(6):
    for x, y in dataset:
        loss = train_step(x, y)
    print(f"epoch {epoch} loss {float(loss):.4f}")
