"""Encoder and decoder are two models with one optimizer over their concatenated variables."""

import tensorflow as tf
from sklearn.datasets import load_digits

tf.keras.utils.set_random_seed(6)

images = load_digits().images.reshape(-1, 64).astype("float32") / 16.0
dataset = tf.data.Dataset.from_tensor_slices(images[:640]).batch(128)

encoder = tf.keras.Sequential(
    [tf.keras.layers.Dense(32, activation="relu"), tf.keras.layers.Dense(8)]
)
decoder = tf.keras.Sequential(
    [
        tf.keras.layers.Dense(32, activation="relu"),
        tf.keras.layers.Dense(64, activation="sigmoid"),
    ]
)
optimizer = tf.keras.optimizers.Adam(5e-3)


@tf.function
def train_step(batch):
    with tf.GradientTape() as tape:
        code = encoder(batch)
        reconstruction = decoder(code)
        loss = tf.reduce_mean(tf.square(batch - reconstruction))

    variables = encoder.trainable_variables + decoder.trainable_variables
    grads = tape.gradient(loss, variables)
    optimizer.apply_gradients(zip(grads, variables))
    return loss


for epoch in range(5):
    losses = [train_step(batch) for batch in dataset]
    print("epoch", epoch, "loss", float(sum(losses) / len(losses)))
