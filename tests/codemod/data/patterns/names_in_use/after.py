import tensorflow as tf
import tfexplicit as tfx

tx = 3
opt_state = 2
model = make()
optimizer = tfx.Adam()
opt_state_1 = tfx.setup(optimizer, model)
tfx.update(opt_state_1, model, grads)
