try:
    import tensorflow as tf
except ImportError:
    tf = None
import sys

model = make()
optimizer = tf.keras.optimizers.Adam()
optimizer.apply_gradients(zip(grads, model.trainable_variables))
