"""Everything at module level, with the update written straight into an eager loop."""

import tensorflow as tf
from sklearn.datasets import load_diabetes

tf.keras.utils.set_random_seed(1)

data = load_diabetes()
x = tf.constant(data.data * 20, tf.float32)
y = tf.constant(data.target[:, None] / 100, tf.float32)

model = tf.keras.Sequential(
    [
        tf.keras.Input(shape=(10,)),
        tf.keras.layers.Dense(8, activation="tanh"),
        tf.keras.layers.Dense(1),
    ]
)
optimizer = tf.keras.optimizers.Adam(learning_rate=0.02)

for step in range(25):
    with tf.GradientTape() as tape:
        y_pred = model(x)
        loss = tf.reduce_mean(tf.square(y_pred - y))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(grads_and_vars=zip(grads, model.trainable_variables))
    if step % 8 == 0:
        print("step %d: loss %.4f" % (step, loss))
