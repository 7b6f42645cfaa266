import keras
import tfexplicit as tx

model = make()
optimizer = tx.AdamW(1e-3, weight_decay=0.1)
opt_state = tx.setup(optimizer, model)
tx.update(opt_state, model, grads)
