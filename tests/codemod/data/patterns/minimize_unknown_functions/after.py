import tensorflow as tf
from gpflow.keras import tf_keras
import tfexplicit as tx

if old:
    Adam = tf_keras.optimizers.legacy.Adam
else:
    Adam = tf_keras.optimizers.Adam
model = make_model()
optimizer = Adam(0.1)
opt_state = tx.setup(optimizer, model)
loss_fn = model.training_loss_closure(data)


@tf.function
def step():
    tx.minimize(lambda: loss_fn(), opt_state, model)
    tx.minimize(lambda: 2.0 * loss_fn(), opt_state, model)
    tx.minimize(lambda: model.training_loss(), opt_state, model)
