import tensorflow as tf
import tfexplicit as tx


class Trainer:
    def __init__(self, model, optimizer):
        self.optimizer = optimizer
        self.model = model
        self.opt_state = tx.setup(self.optimizer, self.model)

    @tf.function
    def step(self, x):
        model = self.model
        with tf.GradientTape() as tape:
            loss = f(model(x))
        grads = tape.gradient(loss, tx.trainables(model))
        tx.update(self.opt_state, model, grads)


trainer = Trainer(make(), tf.keras.optimizers.Adam())
