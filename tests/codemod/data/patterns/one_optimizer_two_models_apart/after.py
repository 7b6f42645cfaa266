import tensorflow as tf
import tfexplicit as tx

optimizer = tx.Adam()
actor = make()
critic = make()
opt_state = tx.setup(optimizer, (actor, critic))


def step():
    grads = tape.gradient(actor_loss, tx.trainables(actor))
    tx.update(opt_state, actor, grads)
    grads = tape.gradient(critic_loss, tx.trainables(critic))
    tx.update(opt_state, critic, grads)
