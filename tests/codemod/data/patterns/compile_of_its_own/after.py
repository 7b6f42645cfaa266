import keras
import tensorflow as tf
import tfexplicit as tx


class Net(keras.Model):
    def compile(self, weight, **kwargs):
        super().compile(**kwargs)
        self.opt_state = tx.setup(self.optimizer, self)
        self.weight = weight

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss = self.weight * self.compute_loss(y=y, y_pred=self(x))
        gradients = tape.gradient(loss, tx.trainables(self))
        tx.update(self.opt_state, self, gradients)
        return {"loss": loss}


net = Net(inputs, outputs)
net.compile(2.0, optimizer="adam")
