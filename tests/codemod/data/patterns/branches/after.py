import tensorflow as tf
import tfexplicit as tx


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
    opt_state = tx.setup(optimizer, model)

    for x in data:
        with tf.GradientTape() as tape:
            loss = f(model(x))
        grads = tape.gradient(loss, tx.trainables(model))
        tx.update(opt_state, model, grads)
