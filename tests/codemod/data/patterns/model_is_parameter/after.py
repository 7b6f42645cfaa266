import tensorflow as tf
import tfexplicit as tx


def train(model, data, epochs=3):
    optimizer = tx.Adam(learning_rate=1e-3, beta_1=0.5)
    opt_state = tx.setup(optimizer, model)
    for x in data:
        with tf.GradientTape() as tape:
            loss = f(model(x))
        grads = tape.gradient(loss, tx.trainables(model))
        tx.update(opt_state, model, grads)
