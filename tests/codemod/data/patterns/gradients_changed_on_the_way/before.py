import tensorflow as tf

opt = tf.keras.optimizers.Adam()
model = make()


def clipped():
    grads = tape.gradient(loss, model.trainable_variables)
    grads, _ = tf.clip_by_global_norm(grads, 5.0)
    grads = [tf.clip_by_norm(g, 1.0) for g in grads]
    grads = own_helper(grads)
    opt.apply_gradients(zip(grads, model.trainable_variables))


def in_the_call():
    with tf.GradientTape() as tape:
        loss = f(model)
        grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(
        [(tf.clip_by_value(g, -1.0, 1.0), v) for g, v in zip(grads, model.trainable_variables)]
    )


def without_none():
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients((g, v) for g, v in zip(grads, model.trainable_variables) if g is not None)


def clipped_without_none():
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(
        [(2 * g, v) for g, v in zip(grads, model.trainable_variables) if g is not None]
    )


def with_decay():
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients([(g + 0.1 * v, v) for g, v in zip(grads, model.trainable_variables)])


def named_pairs():
    grads = tape.gradient(loss, model.trainable_variables)
    pairs = zip(grads, model.trainable_variables)
    pairs = [(tf.clip_by_norm(g, 1.0), v) for g, v in pairs]
    opt.apply_gradients(pairs)
