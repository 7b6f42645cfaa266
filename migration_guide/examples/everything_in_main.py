"""Model, optimizer and loop are local variables of `main()`."""

import argparse

import numpy as np
import tensorflow as tf
from sklearn.datasets import load_digits
from tensorflow import keras


def make_model(hidden):
    inputs = keras.Input(shape=(64,))
    x = keras.layers.Dense(hidden, activation="relu")(inputs)
    outputs = keras.layers.Dense(10)(x)
    return keras.Model(inputs, outputs)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--batch_size", type=int, default=64)
    parser.add_argument("--lr", type=float, default=3e-3)
    args = parser.parse_args()

    keras.utils.set_random_seed(2)
    images, labels = load_digits(return_X_y=True)
    images = images.astype("float32") / 16.0
    rng = np.random.default_rng(2)

    model = make_model(hidden=32)
    optimizer = keras.optimizers.Adam(args.lr)
    loss_object = keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    for step in range(1, args.steps + 1):
        batch = rng.choice(len(images), args.batch_size, replace=False)
        with tf.GradientTape() as tape:
            logits = model(images[batch], training=True)
            loss = loss_object(labels[batch], logits)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        if step == 1 or step % 10 == 0:
            print(f"[{step:3d}/{args.steps}] loss = {loss.numpy():.4f}")


if __name__ == "__main__":
    main()
