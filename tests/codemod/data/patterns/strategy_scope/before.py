import tensorflow as tf

strategy = tf.distribute.MirroredStrategy()
with strategy.scope():
    model = make()
    optimizer = tf.keras.optimizers.Adam()


@tf.function
def step(x):
    def replica(x):
        with tf.GradientTape() as tape:
            loss = f(model(x))
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))

    strategy.run(replica, args=(x,))
