from tensorflow import keras
from tensorflow.keras.optimizers import Adam as A

gen_optimizer = A(2e-4, 0.5)
optimizer_d = keras.optimizers.SGD(2e-4)
generator = make()
discriminator = make()


def step():
    optimizer_d.apply_gradients(zip(d_grads, discriminator.trainable_variables))
    gen_optimizer.apply_gradients(zip(g_grads, generator.trainable_variables))
