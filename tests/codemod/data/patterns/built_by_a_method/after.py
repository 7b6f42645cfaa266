import tensorflow as tf
import tfexplicit as tx


class Trainer:
    def __init__(self):
        self.encoder = make()
        self.opt = tx.Adam()
        self._build()
        self.opt_state = tx.setup(self.opt, (self.encoder, self.decoder))
        self.steps = 0

    def _build(self):
        self.decoder = make()

    def step(self, x):
        variables = tx.trainables((self.encoder, self.decoder))
        with tf.GradientTape() as tape:
            loss = f(x)
        tx.update(self.opt_state, (self.encoder, self.decoder), tape.gradient(loss, variables))
