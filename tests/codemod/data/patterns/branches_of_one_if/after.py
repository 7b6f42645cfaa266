import tensorflow as tf
import tfexplicit as tx

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
if eager:
    optimizer = tx.Adam(0.1)
    opt_state = tx.setup(optimizer, model)
    for x, y in data:
        with tf.GradientTape() as tape:
            loss = loss_fn(y, model(x))
        grads = tape.gradient(loss, tx.trainables(model))
        tx.update(opt_state, model, grads)
else:
    optimizer = tf.compat.v1.train.AdamOptimizer(0.1)
    train_op = optimizer.minimize(loss_fn(y_placeholder, model(x_placeholder)))
