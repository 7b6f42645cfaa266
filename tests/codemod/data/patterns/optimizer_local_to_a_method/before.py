import tensorflow as tf


class Trainer:
    def __init__(self):
        self.agent = Agent()

    def fit(self, data):
        optimizer = tf.keras.optimizers.Adam()
        for x in data:
            optimizer.apply_gradients(zip(g(x), self.agent.model.trainable_variables))


class Agent:
    def __init__(self):
        self.model = make()
