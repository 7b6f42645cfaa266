import tensorflow as tf


class Trainer:
    def __init__(self):
        self.encoder = make()
        self.opt = tf.keras.optimizers.Adam()
        self._build()
        self.steps = 0

    def _build(self):
        self.decoder = make()

    def step(self, x):
        variables = self.encoder.trainable_variables + self.decoder.trainable_variables
        with tf.GradientTape() as tape:
            loss = f(x)
        self.opt.apply_gradients(zip(tape.gradient(loss, variables), variables))
