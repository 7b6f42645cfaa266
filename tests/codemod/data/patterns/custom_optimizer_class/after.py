import tensorflow as tf
import tfexplicit as tx


class Lion(tf.keras.optimizers.Optimizer):
    def update_step(self, gradient, variable, learning_rate):
        variable.assign_sub(learning_rate * tf.sign(gradient))


model = make()
optimizer = Lion(learning_rate=1e-4)
opt_state = tx.setup(optimizer, model)
tx.update(opt_state, model, grads)
