import tensorflow as tf

slow = tf.keras.optimizers.Adam(0.01)
fast = tf.keras.optimizers.Adam(0.1)


def train_step(w, x, y, optimizer):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.square(w * x - y))
    grads = tape.gradient(loss, [w])
    optimizer.apply_gradients(zip(grads, [w]))
    return loss


w = tf.Variable(2.0)
x = tf.constant([-1.0])
y = tf.constant([2.0])
train_step_1 = tf.function(train_step)
train_step_2 = tf.function(train_step, jit_compile=True)
for i in range(10):
    if i % 2 == 0:
        print(float(train_step_1(w, x, y, slow)))
    else:
        print(float(train_step_2(w, x, y, optimizer=fast)))
