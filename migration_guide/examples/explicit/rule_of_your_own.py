"""A rule of your own in ten lines: momentum that grows with the step, from half to all of it."""

from dataclasses import dataclass

import tensorflow as tf

import tfexplicit as tx


@dataclass(frozen=True, eq=False, repr=False)
class GrowingMomentum(tx.Rule):
    learning_rate: tx.NonNegative = 0.01
    momentum: tx.Fraction = 0.9

    def init(self, leaf):
        return {"velocity": tf.zeros_like(leaf)}

    def apply(self, slots, leaf, grad, step):
        share = self.momentum * (1 - 1 / (1 + tf.cast(step, tf.float64)))
        velocity = tf.cast(share, leaf.dtype) * slots["velocity"] + grad
        return tf.cast(self.learning_rate, leaf.dtype) * velocity, {"velocity": velocity}


tf.keras.utils.set_random_seed(0)
x = tf.random.normal((64, 4))
y = tf.reduce_sum(x, 1, keepdims=True)
model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(1, name="dense")])

opt_state = tx.setup(tx.Chain(tx.ClipByGlobalNorm(1.0), GrowingMomentum(0.1)), model)


@tf.function(jit_compile=True)
def train_step():
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x) - y) ** 2)
    grads = tape.gradient(loss, tx.trainables(model))
    tx.update(opt_state, model, grads)
    return loss


first = train_step()
for _ in range(40):
    loss = train_step()
tx.adjust(opt_state, momentum=0.5)
loss = train_step()
print("loss:", first.numpy(), "->", loss.numpy())
print(opt_state)
assert loss < 0.1 * first
assert train_step.experimental_get_tracing_count() == 1
