import tensorflow as tf
import tfexplicit as tx

image = tf.Variable(content)
opt = tx.Adam(0.02)
opt_state = tx.setup(opt, [image])


@tf.function()
def train_step(image):
    with tf.GradientTape() as tape:
        loss = style_loss(image)
    grad = tape.gradient(loss, image)
    tx.update(opt_state, [image], [grad])
    image.assign(clip(image))


for _ in range(10):
    train_step(image)


@tf.function()
def train_step(image):
    with tf.GradientTape() as tape:
        loss = style_loss(image) + variation(image)
    grad = tape.gradient(loss, image)
    tx.update(opt_state_1, [image], [grad])
    image.assign(clip(image))


opt = tx.Adam(0.02)
image = tf.Variable(content)
opt_state_1 = tx.setup(opt, [image])
for _ in range(10):
    train_step(image)
