import tensorflow as tf

for fold in range(3):
    model = make()
    optimizer = tf.keras.optimizers.Adam()
    for x in data:
        with tf.GradientTape() as tape:
            loss = f(model(x))
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
