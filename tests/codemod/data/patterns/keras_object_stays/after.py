import tensorflow as tf
import tfexplicit as tx

model = make()
compiled = tf.keras.optimizers.Adam(1e-3)
compiled_opt_state = tx.setup(compiled, model)
model.compile(optimizer=compiled)
saved = tf.keras.optimizers.Adam(1e-3)
saved_opt_state = tx.setup(saved, model)
checkpoint = tf.train.Checkpoint(optimizer=saved)
averaging = tf.keras.optimizers.SGD(0.1, use_ema=True)
averaging_opt_state = tx.setup(averaging, model)
called = tf.keras.optimizers.SGD(lambda: 0.1)
called_opt_state = tx.setup(called, model)
tx.update(compiled_opt_state, model, grads)
tx.update(saved_opt_state, model, grads)
tx.update(averaging_opt_state, model, grads)
tx.update(called_opt_state, model, grads)
