import tensorflow as tf

tx = 3
opt_state = 2
model = make()
optimizer = tf.keras.optimizers.Adam()
optimizer.apply_gradients(zip(grads, model.trainable_variables))
