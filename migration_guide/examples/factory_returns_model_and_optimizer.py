"""A factory function returns the model and the optimizer as a pair."""

import tensorflow as tf
from sklearn.datasets import load_iris
from tensorflow import keras


def setup_model(lr):
    inputs = keras.Input(shape=(4,))
    outputs = keras.layers.Dense(3)(keras.layers.Dense(10, activation="relu")(inputs))
    model = keras.Model(inputs, outputs)
    optimizer = keras.optimizers.Adam(learning_rate=lr)
    return model, optimizer


def main():
    keras.utils.set_random_seed(20)
    x, y = load_iris(return_X_y=True)
    train_dataset = tf.data.Dataset.from_tensor_slices((x.astype("float32"), y))
    train_dataset = train_dataset.shuffle(150, seed=20).batch(30)
    model, optimizer = setup_model(lr=0.02)
    loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    avg_loss = keras.metrics.Mean("loss")

    for epoch in range(1, 6):
        for images, labels in train_dataset:
            with tf.GradientTape() as tape:
                outputs = model(images, training=True)
                total_loss = loss_fn(labels, outputs)
            grads = tape.gradient(total_loss, model.trainable_variables)
            optimizer.apply_gradients(zip(grads, model.trainable_variables))
            avg_loss.update_state(total_loss)
        print(f"{epoch}, train: {avg_loss.result():.4f}")
        avg_loss.reset_state()


if __name__ == "__main__":
    main()
