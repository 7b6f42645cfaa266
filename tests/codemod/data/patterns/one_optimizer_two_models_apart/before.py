import tensorflow as tf

optimizer = tf.keras.optimizers.Adam()
actor = make()
critic = make()


def step():
    grads = tape.gradient(actor_loss, actor.trainable_variables)
    optimizer.apply_gradients(zip(grads, actor.trainable_variables))
    grads = tape.gradient(critic_loss, critic.trainable_variables)
    optimizer.apply_gradients(zip(grads, critic.trainable_variables))
