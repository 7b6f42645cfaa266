import tensorflow as tf
import tfexplicit as tx

for fold in range(3):
    model = make()
    optimizer = tx.Adam()
    opt_state = tx.setup(optimizer, model)
    for x in data:
        with tf.GradientTape() as tape:
            loss = f(model(x))
        grads = tape.gradient(loss, tx.trainables(model))
        tx.update(opt_state, model, grads)
