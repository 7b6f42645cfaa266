import tensorflow as tf

model = make()
compiled = tf.keras.optimizers.Adam(1e-3)
model.compile(optimizer=compiled)
saved = tf.keras.optimizers.Adam(1e-3)
checkpoint = tf.train.Checkpoint(optimizer=saved)
averaging = tf.keras.optimizers.SGD(0.1, use_ema=True)
called = tf.keras.optimizers.SGD(lambda: 0.1)
compiled.apply_gradients(zip(grads, model.trainable_variables))
saved.apply_gradients(zip(grads, model.trainable_variables))
averaging.apply_gradients(zip(grads, model.trainable_variables))
called.apply_gradients(zip(grads, model.trainable_variables))
