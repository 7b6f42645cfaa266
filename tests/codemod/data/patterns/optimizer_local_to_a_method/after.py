import tensorflow as tf
import tfexplicit as tx


class Trainer:
    def __init__(self):
        self.agent = Agent()

    def fit(self, data):
        optimizer = tx.Adam()
        opt_state = tx.setup(optimizer, self.agent.model)
        for x in data:
            tx.update(opt_state, self.agent.model, g(x))


class Agent:
    def __init__(self):
        self.model = make()
