import tensorflow as tf


def step(net, opt: tf.keras.optimizers.Optimizer, x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, net(x))
    grads = tape.gradient(loss, net.trainable_variables)
    opt.apply_gradients(zip(grads, net.trainable_variables))


def train(net, optimizer, data):
    for x, y in data:
        step(net, optimizer, x, y)


teacher = tf.keras.Sequential([tf.keras.layers.Dense(1)])
student = tf.keras.Sequential([tf.keras.layers.Dense(1)])
teacher_optimizer = tf.keras.optimizers.Adam(0.1)
student_optimizer = tf.keras.optimizers.SGD(0.1)
train(teacher, teacher_optimizer, data)
train(student, optimizer=student_optimizer, data=data)
