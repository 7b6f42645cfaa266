import keras
import tensorflow as tf


class GAN(keras.Model):
    def __init__(self, discriminator, generator):
        super().__init__()
        self.discriminator = discriminator
        self.generator = generator

    def compile(self, d_optimizer, g_optimizer):
        super().compile()
        self.d_optimizer = d_optimizer
        self.g_optimizer = g_optimizer

    def train_step(self, images):
        with tf.GradientTape() as tape:
            d_loss = d_loss_fn(self.discriminator(images))
        grads = tape.gradient(d_loss, self.discriminator.trainable_weights)
        self.d_optimizer.apply(grads, self.discriminator.trainable_weights)
        with tf.GradientTape() as tape:
            g_loss = g_loss_fn(self.discriminator(self.generator(noise())))
        grads = tape.gradient(g_loss, self.generator.trainable_weights)
        self.g_optimizer.apply(grads, self.generator.trainable_weights)
        return {"d_loss": d_loss, "g_loss": g_loss}


gan = GAN(make_discriminator(), make_generator())
gan.compile(d_optimizer=keras.optimizers.Adam(0.1), g_optimizer=keras.optimizers.Adam(0.2))
