"""Small models for the training steps: each with its loss on a batch that stays the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Made = tuple[Any, Callable[[Any], Any]]


def resnet() -> Made:
    """Three stages of two blocks on a batch of 32 pictures of 32 x 32; 0.7 million parameters."""
    import keras
    import tensorflow as tf
    from keras import layers

    keras.utils.set_random_seed(1)
    inputs = keras.Input((32, 32, 3))
    x = layers.Conv2D(32, 3, padding="same", use_bias=False)(inputs)
    for stage, width in enumerate((32, 64, 128)):
        for block in range(2):
            strides = 2 if stage and not block else 1
            y = layers.Conv2D(width, 3, strides, padding="same", use_bias=False)(x)
            y = layers.ReLU()(layers.BatchNormalization()(y))
            y = layers.Conv2D(width, 3, padding="same", use_bias=False)(y)
            y = layers.BatchNormalization()(y)
            if x.shape != y.shape:
                x = layers.Conv2D(width, 1, strides, use_bias=False)(x)
            x = layers.ReLU()(layers.add([x, y]))
    outputs = layers.Dense(10)(layers.GlobalAveragePooling2D()(x))
    pictures = tf.random.stateless_normal((32, 32, 32, 3), (1, 2))
    labels = tf.random.stateless_uniform((32,), (3, 4), maxval=10, dtype=tf.int32)
    return keras.Model(inputs, outputs), _cross_entropy(pictures, labels)


def transformer() -> Made:
    """Four layers of width 128 on 16 sequences of 64 tokens; 1.9 million parameters."""
    import keras
    import tensorflow as tf
    from keras import layers

    keras.utils.set_random_seed(1)
    length, vocabulary, width = 64, 4_000, 128
    inputs = keras.Input((length,), dtype="int32")
    x = layers.Embedding(vocabulary, width)(inputs)
    for _ in range(4):
        y = layers.LayerNormalization()(x)
        x = layers.add([x, layers.MultiHeadAttention(4, width // 4)(y, y)])
        y = layers.Dense(4 * width, activation="gelu")(layers.LayerNormalization()(x))
        x = layers.add([x, layers.Dense(width)(y)])
    outputs = layers.Dense(vocabulary)(layers.LayerNormalization()(x))
    tokens = tf.random.stateless_uniform((16, length), (1, 2), maxval=vocabulary, dtype=tf.int32)
    return keras.Model(inputs, outputs), _cross_entropy(tokens, tf.roll(tokens, -1, axis=1))


def _cross_entropy(inputs: Any, labels: Any) -> Callable[[Any], Any]:
    import tensorflow as tf

    def loss(model: Any) -> Any:
        logits = model(inputs, training=True)
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
        return tf.reduce_mean(losses)

    return loss


MODELS: dict[str, Callable[[], Made]] = {"ResNet": resnet, "Transformer": transformer}
