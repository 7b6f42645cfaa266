import tensorflow as tf
import tfexplicit as tx

model = make()
compiled = tf.keras.optimizers.Adam(1e-3)
compiled_opt_state = tx.setup(compiled, model)
model.compile(optimizer=compiled)
saved = tf.keras.optimizers.Adam(1e-3)
saved_opt_state = tx.setup(saved, model)
checkpoint = tf.train.Checkpoint(optimizer=saved)
clipping = tf.keras.optimizers.SGD(0.1, clipnorm=1.0)
clipping_opt_state = tx.setup(clipping, model)
called = tf.keras.optimizers.SGD(lambda: 0.1)
called_opt_state = tx.setup(called, model)
tx.update(compiled_opt_state, model, grads)
tx.update(saved_opt_state, model, grads)
tx.update(clipping_opt_state, model, grads)
tx.update(called_opt_state, model, grads)
