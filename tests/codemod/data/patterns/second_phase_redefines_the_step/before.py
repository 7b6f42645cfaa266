import tensorflow as tf

image = tf.Variable(content)
opt = tf.keras.optimizers.Adam(0.02)


@tf.function()
def train_step(image):
    with tf.GradientTape() as tape:
        loss = style_loss(image)
    grad = tape.gradient(loss, image)
    opt.apply_gradients([(grad, image)])
    image.assign(clip(image))


for _ in range(10):
    train_step(image)


@tf.function()
def train_step(image):
    with tf.GradientTape() as tape:
        loss = style_loss(image) + variation(image)
    grad = tape.gradient(loss, image)
    opt.apply_gradients([(grad, image)])
    image.assign(clip(image))


opt = tf.keras.optimizers.Adam(0.02)
image = tf.Variable(content)
for _ in range(10):
    train_step(image)
