try:
    import tensorflow as tf
except ImportError:
    tf = None
import sys
import tfexplicit as tx

model = make()
optimizer = tx.Adam()
opt_state = tx.setup(optimizer, model)
tx.update(opt_state, model, grads)
