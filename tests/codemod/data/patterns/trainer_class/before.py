import tensorflow as tf


class Trainer:
    def __init__(self, model, optimizer):
        self.optimizer = optimizer
        self.model = model

    @tf.function
    def step(self, x):
        model = self.model
        with tf.GradientTape() as tape:
            loss = f(model(x))
        grads = tape.gradient(loss, model.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, model.trainable_variables))


trainer = Trainer(make(), tf.keras.optimizers.Adam())
