import tensorflow as tf

if name == "adam":
    optimizer = tf.keras.optimizers.Adam()
elif name == "sgd":
    optimizer = tf.keras.optimizers.SGD()
else:
    raise ValueError(name)
model = make()
optimizer.apply_gradients(zip(grads, model.trainable_variables))
