"""Each gradient is clipped in a comprehension, and None gradients are let through."""

import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(10)

inputs = keras.Input((6,))
hidden = keras.layers.Dense(12, activation="relu")(inputs)
outputs = keras.layers.Dense(1)(hidden)
auxiliary = keras.layers.Dense(1, name="unused_head")(hidden)
model = keras.Model(inputs, [outputs, auxiliary])

features = tf.random.normal((256, 6))
targets = tf.reduce_sum(features**3, axis=1, keepdims=True)

optimizer = keras.optimizers.SGD(learning_rate=0.02, momentum=0.9)

for step in range(30):
    with tf.GradientTape() as tape:
        prediction, _ = model(features)
        loss = tf.reduce_mean(tf.abs(prediction - targets))
    grads = tape.gradient(loss, model.trainable_weights)
    grads = [tf.clip_by_norm(g, 0.5) if g is not None else None for g in grads]
    optimizer.apply_gradients(zip(grads, model.trainable_weights))
    if step % 10 == 9:
        print("step", step + 1, "loss", float(loss))
