import tensorflow as tf
import tfexplicit as tx

image = tf.Variable(start)
opt = tx.Adam(learning_rate=0.02, beta_1=0.99, epsilon=1e-1)
opt_state = tx.setup(opt, [image])


@tf.function()
def train_step(image):
    with tf.GradientTape() as tape:
        loss = f(image)
    grad = tape.gradient(loss, image)
    tx.update(opt_state, [image], [grad])
    image.assign(clip_0_1(image))


train_step(image)
