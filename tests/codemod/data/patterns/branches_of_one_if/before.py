import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
if eager:
    optimizer = tf.keras.optimizers.Adam(0.1)
    for x, y in data:
        with tf.GradientTape() as tape:
            loss = loss_fn(y, model(x))
        grads = tape.gradient(loss, model.variables)
        optimizer.apply_gradients(zip(grads, model.variables))
else:
    optimizer = tf.compat.v1.train.AdamOptimizer(0.1)
    train_op = optimizer.minimize(loss_fn(y_placeholder, model(x_placeholder)))
