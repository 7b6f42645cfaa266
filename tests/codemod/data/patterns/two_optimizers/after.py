from tensorflow import keras
from tensorflow.keras.optimizers import Adam as A
import tfexplicit as tx

gen_optimizer = tx.Adam(2e-4, 0.5)
optimizer_d = tx.SGD(2e-4)
generator = make()
gen_opt_state = tx.setup(gen_optimizer, generator)
discriminator = make()
d_opt_state = tx.setup(optimizer_d, discriminator)


def step():
    tx.update(d_opt_state, discriminator, d_grads)
    tx.update(gen_opt_state, generator, g_grads)
