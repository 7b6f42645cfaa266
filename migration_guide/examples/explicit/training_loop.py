"""`tx.train` instead of a loop by hand: metrics, validation, a schedule and early stopping."""

import numpy as np
import tensorflow as tf

import tfexplicit as tx

tf.keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
x = rng.normal(size=(256, 8)).astype("float32")
y = (x[:, :1] * x[:, 1:2] > 0).astype("float32")
batches = tf.data.Dataset.from_tensor_slices((x[:192], y[:192])).shuffle(192, seed=0).batch(32)
held_out = tf.constant(x[192:]), tf.constant(y[192:])

model = tf.keras.Sequential(
    [
        tf.keras.Input((8,)),
        tf.keras.layers.Dense(32, "relu", name="hidden"),
        tf.keras.layers.Dense(1, name="out"),
    ]
)
rule = tx.Chain(tx.ClipByGlobalNorm(1.0), tx.AdamW(1e-2), tx.EMA(0.9))
opt_state = tx.setup(rule, model)


def loss_fn(model, x, y):
    logits = model(x, training=True)
    loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(y, logits))
    correct = tf.equal(logits > 0, y > 0.5)
    return loss, {"accuracy": tf.reduce_mean(tf.cast(correct, tf.float32))}


best = {"loss": np.inf, "epoch": 0}


def validate(step):
    """After each epoch: stop when the loss has not fallen for three of them."""
    if step.batch < len(batches):
        return False
    loss = float(loss_fn(model, *held_out)[0])
    if loss < best["loss"]:
        best.update(loss=loss, epoch=step.epoch, values=tx.params(model))
    return step.epoch - best["epoch"] >= 3


def halve_twice(step):
    if step.batch == 1 and step.epoch in (10, 20):
        tx.adjust(opt_state, learning_rate=1e-2 * 0.5 ** (step.epoch / 10))


log = tx.train(
    loss_fn, model, batches, opt_state, epochs=30, callbacks=[validate, halve_twice], progress=False
)
tx.assign(model, best["values"])
print(f"{len(log.loss)} steps, best epoch {best['epoch']}, held-out loss {best['loss']:.3f}")
print("accuracy in the last epoch:", log.metrics["accuracy"][-len(batches) :].mean())
averages = tx.ema_params(opt_state, model)
assert averages["out"]["bias"].shape == (1,)
assert best["loss"] < 0.6
assert log.loss[-1] < log.loss[0]
