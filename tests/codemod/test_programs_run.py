"""Programs in which several things are rewritten at once train as before."""

from __future__ import annotations

from pathlib import Path

import pytest
from tfexplicit_codemod.cli import main
from tfexplicit_codemod.engine import migrate_source

# A second phase under the same names, optimizers handed on through functions, dicts of variables.
PROGRAM = """\
import tensorflow as tf

tf.keras.utils.set_random_seed(1)
x = tf.random.normal((32, 4))
y = tf.reduce_sum(x, axis=1, keepdims=True)


def make():
    return tf.keras.Sequential([tf.keras.layers.Dense(8, "tanh"), tf.keras.layers.Dense(1)])


def step(net, opt, x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(net(x, training=True) - y))
    grads = tape.gradient(loss, net.trainable_variables)
    opt.apply_gradients(zip(grads, net.trainable_variables))
    tf.print(opt.iterations, len(opt.variables))
    return loss


def train(net, optimizer, steps):
    for _ in range(steps):
        print(float(step(net, optimizer, x, y)))


model = make()
optimizer = tf.keras.optimizers.Adam(0.01)
for _ in range(3):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))

model = make()
optimizer = tf.keras.optimizers.SGD(0.05, momentum=0.9)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for _ in range(3):
    print(float(train_step(x, y)))
print(int(optimizer.iterations))

teacher, student = make(), make()
t_optimizer = tf.keras.optimizers.Adam(0.02)
s_optimizer = tf.keras.optimizers.AdamW(0.02)
train(teacher, t_optimizer, 3)
train(student, optimizer=s_optimizer, steps=2)

weights = {"w": tf.Variable(tf.ones((4, 1)))}
biases = {"b": tf.Variable(tf.zeros((1,)))}
w_optimizer = tf.keras.optimizers.Adam(0.02)
for _ in range(3):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(x @ weights["w"] + biases["b"] - 2.0 * y))
    variables = list(weights.values()) + list(biases.values())
    grads = tape.gradient(loss, variables)
    w_optimizer.apply_gradients(zip(grads, variables))

model, critic = make(), make()
optimizer = tf.keras.optimizers.Adam(0.01)
_ = model(x), critic(x)
optimizer.build(model.trainable_variables + critic.trainable_variables)


@tf.function
def step_both(x, y):
    with tf.GradientTape(persistent=True) as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
        other = tf.reduce_mean(tf.square(critic(x, training=True) + y))
    grads = tape.gradient(loss, model.trainable_variables)
    critic_grads = tape.gradient(other, critic.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    optimizer.apply_gradients(zip(critic_grads, critic.trainable_variables))


for _ in range(3):
    step_both(x, y)

scaling = tf.keras.mixed_precision.LossScaleOptimizer(tf.keras.optimizers.SGD(0.05))
for _ in range(3):
    with tf.GradientTape() as tape:
        loss = scaling.scale_loss(tf.reduce_mean(tf.square(model(x, training=True) - y)))
    grads = tape.gradient(loss, model.trainable_variables)
    scaling.apply_gradients(zip(grads, model.trainable_variables))


def clipped(pairs, norm):
    new = []
    for grad, variable in pairs:
        new.append((tf.clip_by_norm(grad, norm), variable))
    return new


class Agent:
    def __init__(self, body, head, optimizer=None):
        self.body = body
        self.head = head
        self.optimizer = optimizer

    def leaves(self):
        leaves = self.body.trainable_variables
        if self.head is not None:
            leaves = leaves + self.head.trainable_variables
        return sorted(leaves, key=lambda leaf: leaf.path)

    @tf.function
    def step(self, x, norm):
        with tf.GradientTape() as tape:
            out = self.body(x)
            loss = tf.reduce_mean(tf.square(out if self.head is None else self.head(out)))
        pairs = list(zip(tape.gradient(loss, self.leaves()), self.leaves()))
        if norm is not None:
            pairs = clipped(pairs, norm)
        self.optimizer.apply_gradients(pairs)
        return loss


def step_for(net, leaves, optimizer):
    chosen = tf.keras.optimizers.SGD(0.05) if optimizer is None else optimizer
    trained = [] if leaves is None else leaves

    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(net(x)))
        chosen.apply_gradients(zip(tape.gradient(loss, trained), trained))

    return step


def step_of(net, optimizer):
    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(net(x) - 1.0))
        grads = tape.gradient(loss, net.trainable_variables)
        optimizer.apply_gradients(zip(grads, net.trainable_variables))

    return tf.function(step)


adams = [tf.keras.optimizers.Adam(0.01) for _ in range(4)]
Agent(make(), make())
agents = [Agent(make(), make(), adams[0]), Agent(make(), None, adams[1])]
steps = [step_for(model, model.trainable_variables, adams[2]), step_of(critic, adams[3])]
for _ in range(3):
    print(float(agents[0].step(x, 0.5)), float(agents[1].step(x, None)))
    for each in steps:
        each()
print([int(adam.iterations) for adam in adams])
"""


def test_phases_parameters_and_dicts(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    codes = [site.code for site in migrate_source(PROGRAM.encode(), Path("a.py")).sites]
    assert codes == ["TX109", "TX101", "TX101", "TX105", "TX105", "TX105", "TX101", *["TX114"] * 3]
    script = tmp_path / "phases.py"
    script.write_text(PROGRAM)
    code = main(["verify", str(script)])
    assert code == 0, capfd.readouterr().out
