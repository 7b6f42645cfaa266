import tensorflow as tf
import tfexplicit as tx

if name == "adam":
    optimizer = tf.keras.optimizers.Adam()
elif name == "sgd":
    optimizer = tf.keras.optimizers.SGD()
else:
    raise ValueError(name)
model = make()
opt_state = tx.setup(optimizer, model)
tx.update(opt_state, model, grads)
