import tensorflow as tf
from gpflow.keras import tf_keras

if old:
    Adam = tf_keras.optimizers.legacy.Adam
else:
    Adam = tf_keras.optimizers.Adam
model = make_model()
optimizer = Adam(0.1)
loss_fn = model.training_loss_closure(data)


@tf.function
def step():
    optimizer.minimize(loss_fn, model.trainable_variables)
    optimizer.minimize(lambda: 2.0 * loss_fn(), var_list=lambda: model.trainable_variables)
    optimizer.minimize(model.training_loss, var_list=model.trainable_variables)
