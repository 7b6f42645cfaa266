import tensorflow as tf
import tfexplicit as tx

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
optimizer = tx.Adam(0.1)
opt_state = tx.setup(optimizer, model)

for x, y in data:
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x))
    grads = tape.gradient(loss, tx.trainables(model))
    tx.update(opt_state, model, grads)

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
optimizer = tx.SGD(0.1)
opt_state_1 = tx.setup(optimizer, model)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x))
    grads = tape.gradient(loss, tx.trainables(model))
    tx.update(opt_state_1, model, grads)


for x, y in data:
    train_step(x, y)
