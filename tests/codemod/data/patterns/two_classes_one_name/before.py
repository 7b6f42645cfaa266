import tensorflow as tf


class Actor:
    def __init__(self):
        self.model = make()
        self.opt = tf.keras.optimizers.Adam(1e-3)

    def train(self):
        self.opt.apply_gradients(zip(grads, self.model.trainable_variables))


class Critic:
    def __init__(self):
        self.model = make()
        self.opt = tf.keras.optimizers.Adam(1e-2)

    def train(self):
        self.opt.apply_gradients(zip(grads, self.model.trainable_variables))
        print(self.opt.iterations)
