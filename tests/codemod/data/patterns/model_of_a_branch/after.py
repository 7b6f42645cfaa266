import tensorflow as tf
import tfexplicit as tx

with strategy.scope():
    if small:
        model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    else:
        model = tf.keras.applications.ResNet50()
    optimizer = tf.keras.optimizers.Adam(0.1)
    opt_state = tx.setup(optimizer, model)


def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x))
    grads = tape.gradient(loss, tx.trainables(model))
    tx.update(opt_state, model, grads)
