import tensorflow as tf


class Lion(tf.keras.optimizers.Optimizer):
    def update_step(self, gradient, variable, learning_rate):
        variable.assign_sub(learning_rate * tf.sign(gradient))


model = make()
optimizer = Lion(learning_rate=1e-4)
optimizer.apply_gradients(zip(grads, model.trainable_variables))
