import tensorflow as tf
import tfexplicit as tx

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
    optimizer: tf.keras.optimizers.Optimizer, opt_state: tx.OptState,  # any of them
    x, y, first=False,
):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    grads = tape.gradient(loss, tx.trainables(model))
    tx.update(opt_state, model, grads)
    if first:
        print(len(optimizer.variables))
    return loss, optimizer.iterations + 0


def epoch(net, *, adam, adam_opt_state, steps):
    for i in range(steps):
        print(train_step(net, adam, adam_opt_state, x, y, i == 0))
        adam.learning_rate = 0.5 * adam.learning_rate


def fit(net, adam, adam_opt_state):
    epoch(net, adam=adam, adam_opt_state=adam_opt_state, steps=3)


model = tf.keras.Sequential([tf.keras.layers.Dense(8, "tanh"), tf.keras.layers.Dense(1)])
opt = create_optimizer(0.01)
opt_state = tx.setup(opt, model)
fit(model, opt, opt_state)
fit(
    model,
    opt, opt_state  # again
)
print(int(opt.iterations), float(opt.learning_rate))
