import tensorflow as tf
import tfexplicit as te

model = make()
optimizer = te.Adam()
opt_state = te.setup(optimizer, model)
te.update(opt_state, model, grads)
