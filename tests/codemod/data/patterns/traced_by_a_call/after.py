import tensorflow as tf
import tfexplicit as tx

slow = tx.Adam(0.01)
fast = tx.Adam(0.1)


def train_step(w, x, y, opt_state):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.square(w * x - y))
    grads = tape.gradient(loss, [w])
    tx.update(opt_state, [w], grads)
    return loss


w = tf.Variable(2.0)
slow_opt_state = tx.setup(slow, [w])
fast_opt_state = tx.setup(fast, [w])
x = tf.constant([-1.0])
y = tf.constant([2.0])
train_step_1 = tf.function(train_step)
train_step_2 = tf.function(train_step, jit_compile=True)
for i in range(10):
    if i % 2 == 0:
        print(float(train_step_1(w, x, y, slow_opt_state)))
    else:
        print(float(train_step_2(w, x, y, opt_state=fast_opt_state)))
