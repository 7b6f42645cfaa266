"""A `Trainer` keeps the model and the optimizer as attributes; its step is traced."""

import tensorflow as tf
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler


class Net(tf.keras.Model):
    def __init__(self, units, classes):
        super().__init__()
        self.dense1 = tf.keras.layers.Dense(units, activation="relu")
        self.dropout = tf.keras.layers.Dropout(0.1)
        self.dense2 = tf.keras.layers.Dense(classes)

    def call(self, x, training=False):
        return self.dense2(self.dropout(self.dense1(x), training=training))


class Trainer:
    def __init__(self, learning_rate=0.01):
        self.model = Net(16, 3)
        self.optimizer = tf.keras.optimizers.Adam(learning_rate=learning_rate)
        self.loss_fn = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        self.train_loss = tf.keras.metrics.Mean(name="train_loss")

    @tf.function
    def train_step(self, x, y):
        with tf.GradientTape() as tape:
            predictions = self.model(x, training=True)
            loss = self.loss_fn(y, predictions)
        gradients = tape.gradient(loss, self.model.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.model.trainable_variables))
        self.train_loss(loss)

    def train(self, dataset, epochs):
        for epoch in range(epochs):
            self.train_loss.reset_state()
            for x, y in dataset:
                self.train_step(x, y)
            print(f"Epoch {epoch + 1}, Loss: {self.train_loss.result():.4f}")


def main():
    tf.keras.utils.set_random_seed(4)
    x, y = load_wine(return_X_y=True)
    x = StandardScaler().fit_transform(x).astype("float32")
    dataset = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(178, seed=4).batch(32)
    Trainer().train(dataset, epochs=5)


if __name__ == "__main__":
    main()
