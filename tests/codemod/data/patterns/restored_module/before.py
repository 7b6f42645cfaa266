import tensorflow as tf

restored = tf.saved_model.load("module")
optimizer = tf.keras.optimizers.Adam(0.01)
optimizer.iterations.assign(100)

for x, y in data:
    with tf.GradientTape() as tape:
        loss = restored.loss(x, y)
    grads = tape.gradient(loss, restored.vars)
    optimizer.apply_gradients(zip(grads, restored.vars))
