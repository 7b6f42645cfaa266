import tensorflow as tf
import tfexplicit as tx

restored = tf.saved_model.load("module")
optimizer = tf.keras.optimizers.Adam(0.01)
opt_state = tx.setup(optimizer, restored.vars)
optimizer.iterations.assign(100)

for x, y in data:
    with tf.GradientTape() as tape:
        loss = restored.loss(x, y)
    grads = tape.gradient(loss, restored.vars)
    tx.update(opt_state, restored.vars, grads)
