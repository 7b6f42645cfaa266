"""A function makes the model, the optimizer and a nested step that captures both."""

import numpy as np
import tensorflow as tf


def make_train_step(units):
    net = tf.keras.Sequential([tf.keras.layers.Dense(units, "relu"), tf.keras.layers.Dense(2)])
    optimizer = tf.keras.optimizers.Adam(0.01, global_clipnorm=1.0)

    @tf.function
    def train_step(x, y):
        with tf.GradientTape() as tape:
            logits = net(x, training=True)
            loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(tf.one_hot(y, 2), logits))
        grads = tape.gradient(loss, net.trainable_variables)
        optimizer.apply_gradients(zip(grads, net.trainable_variables))
        return loss

    return net, train_step


def main():
    tf.keras.utils.set_random_seed(23)
    x = np.random.normal(size=(256, 2)).astype("float32")
    y = (x[:, 0] * x[:, 1] > 0).astype("int32")
    net, train_step = make_train_step(units=16)
    for step in range(40):
        loss = train_step(x, y)
        if step % 10 == 0:
            print(f"step {step}: loss {loss:.4f}")
    accuracy = np.mean(np.argmax(net(x), axis=1) == y)
    print(f"loss {loss:.4f}, accuracy {accuracy:.3f}")


if __name__ == "__main__":
    main()
