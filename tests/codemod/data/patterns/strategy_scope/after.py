import tensorflow as tf
import tfexplicit as tx

strategy = tf.distribute.MirroredStrategy()
with strategy.scope():
    model = make()
    optimizer = tf.keras.optimizers.Adam()
    opt_state = tx.setup(optimizer, model)


@tf.function
def step(x):
    def replica(x):
        with tf.GradientTape() as tape:
            loss = f(model(x))
        grads = tape.gradient(loss, tx.trainables(model))
        tx.update(opt_state, model, grads)

    strategy.run(replica, args=(x,))
