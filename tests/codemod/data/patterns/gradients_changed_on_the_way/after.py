import tensorflow as tf
import tfexplicit as tx

opt = tx.Adam()
model = make()
opt_state = tx.setup(opt, model)


def clipped():
    grads = tape.gradient(loss, model.trainable_variables)
    grads, _ = tf.clip_by_global_norm(grads, 5.0)
    grads = [tf.clip_by_norm(g, 1.0) for g in grads]
    grads = own_helper(grads)
    tx.update(opt_state, model, grads)


def in_the_call():
    with tf.GradientTape() as tape:
        loss = f(model)
        grads = tape.gradient(loss, tx.trainables(model))
    tx.update(opt_state, model, [tf.clip_by_value(g, -1.0, 1.0) for g in grads])


def without_none():
    grads = tape.gradient(loss, tx.trainables(model))
    tx.update(opt_state, model, grads)


def clipped_without_none():
    grads = tape.gradient(loss, tx.trainables(model))
    tx.update(opt_state, model, [None if g is None else 2 * g for g in grads])


def with_decay():
    grads = tape.gradient(loss, tx.trainables(model))
    tx.update(opt_state, model, [g + 0.1 * v for g, v in zip(grads, model.trainable_variables)])


def named_pairs():
    grads = tape.gradient(loss, tx.trainables(model))
    pairs = zip(grads, model.trainable_variables)
    pairs = [(tf.clip_by_norm(g, 1.0), v) for g, v in pairs]
    tx.update(opt_state, model, [g for g, _ in pairs])
