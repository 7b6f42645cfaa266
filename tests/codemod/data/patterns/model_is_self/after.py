import tensorflow as tf
import tfexplicit as tx


class Net(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.optimizer = tf.keras.optimizers.Adam()
        self.dense = tf.keras.layers.Dense(1)
        self.opt_state = tx.setup(self.optimizer, self)

    def step(self, x):
        with tf.GradientTape() as tape:
            loss = f(self(x))
        grads = tape.gradient(loss, tx.trainables(self))
        tx.update(self.opt_state, self, grads)
