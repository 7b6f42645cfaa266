import keras
import tensorflow as tf
import tfexplicit as tx


class GAN(keras.Model):
    def __init__(self, discriminator, generator):
        super().__init__()
        self.discriminator = discriminator
        self.generator = generator

    def compile(self, d_optimizer, g_optimizer):
        super().compile()
        self.d_optimizer = d_optimizer
        self.d_opt_state = tx.setup(self.d_optimizer, self.discriminator)
        self.g_optimizer = g_optimizer
        self.g_opt_state = tx.setup(self.g_optimizer, self.generator)

    def train_step(self, images):
        with tf.GradientTape() as tape:
            d_loss = d_loss_fn(self.discriminator(images))
        grads = tape.gradient(d_loss, tx.trainables(self.discriminator))
        tx.update(self.d_opt_state, self.discriminator, grads)
        with tf.GradientTape() as tape:
            g_loss = g_loss_fn(self.discriminator(self.generator(noise())))
        grads = tape.gradient(g_loss, tx.trainables(self.generator))
        tx.update(self.g_opt_state, self.generator, grads)
        return {"d_loss": d_loss, "g_loss": g_loss}


gan = GAN(make_discriminator(), make_generator())
gan.compile(d_optimizer=keras.optimizers.Adam(0.1), g_optimizer=keras.optimizers.Adam(0.2))
