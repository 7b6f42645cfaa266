"""The optimizer is the user's own Keras subclass: sign descent with momentum."""

import tensorflow as tf
from tensorflow import keras


class SignMomentum(keras.optimizers.Optimizer):
    def __init__(self, learning_rate=0.001, momentum=0.9, name="sign_momentum", **kwargs):
        super().__init__(learning_rate=learning_rate, name=name, **kwargs)
        self.momentum = momentum

    def build(self, variables):
        if self.built:
            return
        super().build(variables)
        self.velocities = [self.add_variable_from_reference(v, name="velocity") for v in variables]

    def update_step(self, gradient, variable, learning_rate):
        velocity = self.velocities[self._get_variable_index(variable)]
        lr = tf.cast(learning_rate, variable.dtype)
        velocity.assign(self.momentum * velocity + (1 - self.momentum) * gradient)
        variable.assign_sub(lr * tf.sign(velocity))


keras.utils.set_random_seed(21)
model = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
optimizer = SignMomentum(learning_rate=0.005)

x = tf.random.normal((200, 3))
y = x[:, :1] - 2 * x[:, 1:2]


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((y - model(x)) ** 2)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for step in range(40):
    loss = train_step(x, y)
    if step % 10 == 0 or step == 39:
        print("step", step, "loss", loss.numpy())
