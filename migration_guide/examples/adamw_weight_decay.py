"""AdamW, with an L2 penalty from the model's own `losses` inside the tape."""

import tensorflow as tf
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale

tf.keras.utils.set_random_seed(13)
data, target = load_breast_cancer(return_X_y=True)
ds = tf.data.Dataset.from_tensor_slices((scale(data).astype("float32"), target[:, None]))
ds = ds.batch(114)

regularizer = tf.keras.regularizers.L2(1e-4)
model = tf.keras.Sequential(
    [
        tf.keras.layers.Dense(16, activation="gelu", kernel_regularizer=regularizer),
        tf.keras.layers.Dense(1, activation="sigmoid", kernel_regularizer=regularizer),
    ]
)
optimizer = tf.keras.optimizers.AdamW(learning_rate=0.005, weight_decay=0.02)
loss_fn = tf.keras.losses.BinaryCrossentropy()


@tf.function
def train_step(inputs, target):
    with tf.GradientTape() as tape:
        predictions = model(inputs, training=True)
        loss = loss_fn(target, predictions) + sum(model.losses)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


for epoch in range(6):
    total = 0.0
    for batch in ds:
        total += train_step(*batch)
    print(f"epoch {epoch}: {total / len(ds):.4f}")
