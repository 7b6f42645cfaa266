import tensorflow as tf
import tfexplicit as tx

model = make()
scale = tf.Variable(1.0)
opt = tx.Adam()
opt_state = tx.setup(opt, (model, [scale]))


def step():
    variables = [*model.trainable_variables, scale]
    grads = tape.gradient(loss, variables)
    tx.update(opt_state, (model, [scale]), grads)
