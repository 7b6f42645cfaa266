"""A GAN: generator and discriminator have an optimizer each, and one step runs two tapes."""

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

tf.keras.utils.set_random_seed(5)
BATCH_SIZE = 64
NOISE_DIM = 4

angles = np.random.uniform(0, 2 * np.pi, size=512)
circle = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype("float32")
train_dataset = tf.data.Dataset.from_tensor_slices(circle).batch(BATCH_SIZE)


def make_generator_model():
    return tf.keras.Sequential(
        [layers.Input((NOISE_DIM,)), layers.Dense(16), layers.LeakyReLU(), layers.Dense(2)]
    )


def make_discriminator_model():
    return tf.keras.Sequential(
        [layers.Input((2,)), layers.Dense(16), layers.LeakyReLU(), layers.Dense(1)]
    )


generator = make_generator_model()
discriminator = make_discriminator_model()
cross_entropy = tf.keras.losses.BinaryCrossentropy(from_logits=True)
generator_optimizer = tf.keras.optimizers.Adam(1e-3, beta_1=0.5)
discriminator_optimizer = tf.keras.optimizers.Adam(2e-3, beta_1=0.5)


def discriminator_loss(real_output, fake_output):
    real_loss = cross_entropy(tf.ones_like(real_output), real_output)
    fake_loss = cross_entropy(tf.zeros_like(fake_output), fake_output)
    return real_loss + fake_loss


@tf.function
def train_step(points):
    noise = tf.random.normal([BATCH_SIZE, NOISE_DIM])

    with tf.GradientTape() as gen_tape, tf.GradientTape() as disc_tape:
        generated = generator(noise, training=True)
        real_output = discriminator(points, training=True)
        fake_output = discriminator(generated, training=True)
        gen_loss = cross_entropy(tf.ones_like(fake_output), fake_output)
        disc_loss = discriminator_loss(real_output, fake_output)

    gen_grads = gen_tape.gradient(gen_loss, generator.trainable_variables)
    disc_grads = disc_tape.gradient(disc_loss, discriminator.trainable_variables)

    generator_optimizer.apply_gradients(zip(gen_grads, generator.trainable_variables))
    discriminator_optimizer.apply_gradients(zip(disc_grads, discriminator.trainable_variables))
    return gen_loss, disc_loss


for epoch in range(3):
    for batch in train_dataset:
        gen_loss, disc_loss = train_step(batch)
    print(f"epoch {epoch}: generator {gen_loss:.4f}, discriminator {disc_loss:.4f}")
