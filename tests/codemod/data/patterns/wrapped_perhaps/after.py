import tensorflow as tf
import tfexplicit as tx

def train_step(model, opt_state, x):
    grads = tape.gradient(loss, tx.trainables(model))
    tx.update(opt_state, model, grads)

def main(amp):
    model = make()
    opt = tf.keras.optimizers.Adam()
    if amp:
        opt = tf.keras.mixed_precision.LossScaleOptimizer(opt)
    opt_state = tx.setup(opt, model)
    for x in data:
        train_step(model, opt_state, x)

main()
