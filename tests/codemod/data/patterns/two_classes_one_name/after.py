import tensorflow as tf
import tfexplicit as tx


class Actor:
    def __init__(self):
        self.model = make()
        self.opt = tx.Adam(1e-3)
        self.opt_state = tx.setup(self.opt, self.model)

    def train(self):
        tx.update(self.opt_state, self.model, grads)


class Critic:
    def __init__(self):
        self.model = make()
        self.opt = tf.keras.optimizers.Adam(1e-2)
        self.opt_state = tx.setup(self.opt, self.model)

    def train(self):
        tx.update(self.opt_state, self.model, grads)
        print(self.opt.iterations)
