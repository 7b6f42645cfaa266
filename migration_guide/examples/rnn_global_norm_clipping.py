"""A character RNN whose gradients are clipped by their global norm."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(9)

text = "the quick brown fox jumps over the lazy dog. " * 20
vocab = sorted(set(text))
ids = np.array([vocab.index(char) for char in text], dtype="int32")
windows = np.stack([ids[i : i + 17] for i in range(0, len(ids) - 17, 9)])
dataset = tf.data.Dataset.from_tensor_slices(windows).batch(32, drop_remainder=True)


class CharModel(tf.keras.Model):
    def __init__(self, vocab_size, units):
        super().__init__()
        self.vocab_size = vocab_size
        self.rnn = tf.keras.layers.SimpleRNN(units, return_sequences=True)
        self.head = tf.keras.layers.Dense(vocab_size)

    def call(self, x):
        return self.head(self.rnn(tf.one_hot(x, self.vocab_size)))


model = CharModel(len(vocab), 24)
optimizer = tf.keras.optimizers.Adam(0.01)
max_gradient_norm = 0.5


@tf.function
def train_step(window):
    inputs, targets = window[:, :-1], window[:, 1:]
    with tf.GradientTape() as tape:
        logits = model(inputs)
        loss = tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(labels=targets, logits=logits)
        )
    params = model.trainable_variables
    gradients = tape.gradient(loss, params)
    clipped_gradients, norm = tf.clip_by_global_norm(gradients, max_gradient_norm)
    optimizer.apply_gradients(zip(clipped_gradients, params))
    return loss, norm


for epoch in range(6):
    for window in dataset:
        loss, norm = train_step(window)
    print(f"epoch {epoch}  loss {loss:.4f}  gradient norm {norm:.3f}")
