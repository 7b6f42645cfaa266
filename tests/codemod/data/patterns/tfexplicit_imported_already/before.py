import tensorflow as tf
import tfexplicit as te

model = make()
optimizer = tf.keras.optimizers.Adam()
optimizer.apply_gradients(zip(grads, model.trainable_variables))
