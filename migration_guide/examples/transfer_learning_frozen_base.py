"""The head alone on a frozen base first, then a second optimizer for the whole model."""

import tensorflow as tf
from sklearn.datasets import load_digits
from tensorflow import keras

keras.utils.set_random_seed(24)

x, y = load_digits(n_class=5, return_X_y=True)
x = tf.constant(x[:400] / 16.0, tf.float32)
y = tf.constant(y[:400])

base = keras.Sequential([keras.Input((64,)), keras.layers.Dense(24, activation="relu")])
model = keras.Sequential([base, keras.layers.Dense(5)])
model.build((None, 64))
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)

base.trainable = False
head_optimizer = keras.optimizers.SGD(0.5)
for _ in range(15):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x))
    grads = tape.gradient(loss, model.trainable_variables)
    head_optimizer.apply_gradients(zip(grads, model.trainable_variables))
print(f"head trained: loss {loss:.4f}")

base.trainable = True
fine_tune_optimizer = keras.optimizers.Adam(1e-3)
for _ in range(15):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x))
    grads = tape.gradient(loss, model.trainable_variables)
    fine_tune_optimizer.apply_gradients(zip(grads, model.trainable_variables))
print(f"fine-tuned: loss {loss:.4f}")
