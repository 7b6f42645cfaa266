import tensorflow as tf

with strategy.scope():
    if small:
        model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    else:
        model = tf.keras.applications.ResNet50()
    optimizer = tf.keras.optimizers.Adam(0.1)


def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
