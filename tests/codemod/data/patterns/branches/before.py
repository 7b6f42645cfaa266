import tensorflow as tf


def build():
    model = make()
    optimizer = tf.optimizers.Adam(1e-3)
    return model, optimizer, 3


def main(distributed):
    if distributed:
        strategy = tf.distribute.MirroredStrategy()
        with strategy.scope():
            model, optimizer, depth = build()
    else:
        model, optimizer, depth = build()

    for x in data:
        with tf.GradientTape() as tape:
            loss = f(model(x))
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(
            zip(grads, model.trainable_variables))
