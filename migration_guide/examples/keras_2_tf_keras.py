"""A Keras 2 program on the `tf_keras` package."""

import tensorflow as tf
import tf_keras as keras

keras.utils.set_random_seed(18)


class Regressor(keras.Model):
    def __init__(self):
        super().__init__()
        self.norm = keras.layers.BatchNormalization()
        self.hidden = keras.layers.Dense(12, activation="relu")
        self.out = keras.layers.Dense(1)

    def call(self, inputs, training=None):
        return self.out(self.hidden(self.norm(inputs, training=training)))


model = Regressor()
optimizer = keras.optimizers.Adam(learning_rate=0.01, clipvalue=0.5)
loss_metric = keras.metrics.Mean()

x = tf.random.normal((320, 5), mean=2.0)
y = tf.reduce_prod(x[:, :2], axis=1, keepdims=True)
train_data = tf.data.Dataset.from_tensor_slices((x, y)).batch(64)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(keras.losses.huber(y, model(x, training=True)))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for epoch in range(5):
    loss_metric.reset_states()
    for batch_x, batch_y in train_data:
        loss_metric.update_state(train_step(batch_x, batch_y))
    print("Epoch", epoch, "loss", loss_metric.result().numpy())
