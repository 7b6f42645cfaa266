import tensorflow as tf

def train_step(model, opt, x):
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))

def main(amp):
    model = make()
    opt = tf.keras.optimizers.Adam()
    if amp:
        opt = tf.keras.mixed_precision.LossScaleOptimizer(opt)
    for x in data:
        train_step(model, opt, x)

main()
