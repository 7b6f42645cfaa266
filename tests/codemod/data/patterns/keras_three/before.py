import keras

model = make()
optimizer = keras.optimizers.AdamW(1e-3, weight_decay=0.1)
optimizer.apply(grads, model.trainable_variables)
