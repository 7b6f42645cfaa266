import tensorflow as tf

tf.keras.utils.set_random_seed(1)
x = tf.random.normal((32, 4))
y = tf.reduce_sum(x, axis=1, keepdims=True)


class Decayed(tf.keras.optimizers.Adam):
    pass


def create_optimizer(rate, optimizer="adam"):
    if optimizer == "adam":
        optimizer = Decayed(rate)
    else:
        optimizer = tf.keras.optimizers.SGD(rate)
    return optimizer


@tf.function
def train_step(
    model,
    optimizer: tf.keras.optimizers.Optimizer,  # any of them
    x, y, first=False,
):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    if first:
        print(len(optimizer.variables))
    return loss, optimizer.iterations + 0


def epoch(net, *, adam, steps):
    for i in range(steps):
        print(train_step(net, adam, x, y, i == 0))
        adam.learning_rate = 0.5 * adam.learning_rate


def fit(net, adam):
    epoch(net, adam=adam, steps=3)


model = tf.keras.Sequential([tf.keras.layers.Dense(8, "tanh"), tf.keras.layers.Dense(1)])
opt = create_optimizer(0.01)
fit(model, opt)
fit(
    model,
    opt  # again
)
print(int(opt.iterations), float(opt.learning_rate))
