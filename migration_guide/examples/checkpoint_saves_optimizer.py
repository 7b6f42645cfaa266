"""The optimizer goes into a `tf.train.Checkpoint`; training stops, restores and goes on."""

import tempfile

import tensorflow as tf

tf.keras.utils.set_random_seed(22)

model = tf.keras.Sequential([tf.keras.layers.Dense(10, "relu"), tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.Adam(0.02)
ckpt = tf.train.Checkpoint(step=tf.Variable(0), optimizer=optimizer, net=model)
manager = tf.train.CheckpointManager(ckpt, tempfile.mkdtemp(), max_to_keep=2)

x = tf.random.uniform((100, 2))
y = tf.sqrt(tf.reduce_sum(x**2, axis=1, keepdims=True))


@tf.function
def train_step():
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.abs(model(x) - y))
    variables = model.trainable_variables
    gradients = tape.gradient(loss, variables)
    optimizer.apply_gradients(zip(gradients, variables))
    return loss


def train(steps):
    for _ in range(steps):
        loss = train_step()
        ckpt.step.assign_add(1)
        if int(ckpt.step) % 5 == 0:
            print(f"step {int(ckpt.step)}: loss {loss:.5f}, iterations {int(optimizer.iterations)}")


train(10)
manager.save()
train(5)
ckpt.restore(manager.latest_checkpoint)
print("restored at step", int(ckpt.step))
train(15)
