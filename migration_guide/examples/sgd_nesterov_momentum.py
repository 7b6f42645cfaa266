"""A small convolutional network trained by SGD with Nesterov momentum and a `clipnorm` argument."""

import tensorflow as tf
from sklearn.datasets import load_digits
from tensorflow.keras import layers, models, optimizers

tf.keras.utils.set_random_seed(14)

digits = load_digits()
x_train = digits.images[:512, :, :, None].astype("float32") / 16
y_train = digits.target[:512]
train_ds = tf.data.Dataset.from_tensor_slices((x_train, y_train)).batch(64)


def build_cnn():
    return models.Sequential(
        [
            layers.Conv2D(8, 3, use_bias=False),
            layers.BatchNormalization(),
            layers.ReLU(),
            layers.GlobalAveragePooling2D(),
            layers.Dense(10),
        ]
    )


cnn = build_cnn()
cnn.build((None, 8, 8, 1))
sgd = optimizers.SGD(learning_rate=0.1, momentum=0.9, nesterov=True, clipnorm=1.0)


@tf.function(jit_compile=False)
def train_batch(x, y):
    with tf.GradientTape() as t:
        logits = cnn(x, training=True)
        loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits)
        loss = tf.reduce_mean(loss)
    sgd.apply_gradients(zip(t.gradient(loss, cnn.trainable_variables), cnn.trainable_variables))
    return loss


for epoch in range(4):
    for images, labels in train_ds:
        loss = train_batch(images, labels)
    print("epoch %d: %.4f" % (epoch, loss))
