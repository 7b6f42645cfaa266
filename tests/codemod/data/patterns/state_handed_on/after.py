import tensorflow as tf
import tfexplicit as tx


def step(net, opt_state: tx.OptState, x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, net(x))
    grads = tape.gradient(loss, tx.trainables(net))
    tx.update(opt_state, net, grads)


def train(net, opt_state, data):
    for x, y in data:
        step(net, opt_state, x, y)


teacher = tf.keras.Sequential([tf.keras.layers.Dense(1)])
student = tf.keras.Sequential([tf.keras.layers.Dense(1)])
teacher_optimizer = tx.Adam(0.1)
teacher_opt_state = tx.setup(teacher_optimizer, teacher)
student_optimizer = tx.SGD(0.1)
student_opt_state = tx.setup(student_optimizer, student)
train(teacher, teacher_opt_state, data)
train(student, opt_state=student_opt_state, data=data)
