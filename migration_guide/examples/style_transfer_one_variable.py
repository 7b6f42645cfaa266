"""Style transfer: one image is trained, and clipped to its range after each update."""

import tensorflow as tf

tf.keras.utils.set_random_seed(7)

content = tf.random.uniform((1, 16, 16, 3))
style = tf.random.uniform((1, 16, 16, 3)) ** 4
extractor = tf.keras.layers.Conv2D(8, 3, activation="relu", kernel_initializer="he_normal")
extractor.build(content.shape)


def gram_matrix(features):
    result = tf.einsum("bijc,bijd->bcd", features, features)
    return result / tf.cast(tf.reduce_prod(tf.shape(features)[1:3]), tf.float32)


style_target = gram_matrix(extractor(style))
content_target = extractor(content)


def style_content_loss(image):
    features = extractor(image)
    style_loss = tf.reduce_mean((gram_matrix(features) - style_target) ** 2)
    content_loss = tf.reduce_mean((features - content_target) ** 2)
    return 1e2 * style_loss + content_loss


def clip_0_1(image):
    return tf.clip_by_value(image, clip_value_min=0.0, clip_value_max=1.0)


image = tf.Variable(content)
opt = tf.keras.optimizers.Adam(learning_rate=0.02, beta_1=0.99, epsilon=1e-1)


@tf.function()
def train_step(image):
    with tf.GradientTape() as tape:
        loss = style_content_loss(image)
    grad = tape.gradient(loss, image)
    opt.apply_gradients([(grad, image)])
    image.assign(clip_0_1(image))
    return loss


for step in range(1, 31):
    loss = train_step(image)
    if step in (1, 15, 30):
        print(f"Train step: {step} loss: {loss.numpy():.5f}")
