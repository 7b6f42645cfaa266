"""Updates of `tape.watched_variables()`: the leaves that the tape has seen, in the order of use."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from tfexplicit_codemod.engine import migrate_source
from tfexplicit_codemod.verify.compare import compare

AssertLeft = Callable[[str, list[str], str], None]

# The tape sees the decoder first, and never the spare model.
PROGRAM = """\
import tensorflow as tf

tf.keras.utils.set_random_seed(1)
x = tf.random.normal((32, 4))
y = tf.reduce_sum(x, axis=1, keepdims=True)
loss_fn = tf.keras.losses.MeanSquaredError()


class Net(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.spare = tf.keras.layers.Dense(3)
        self.last = tf.keras.layers.Dense(1)
        self.first = tf.keras.layers.Dense(8, "tanh")

    def call(self, x):
        return self.last(self.first(x))


net = Net()
scale = tf.keras.Sequential([tf.keras.layers.Dense(1)])
net.spare(x)
optimizer = tf.keras.optimizers.Adam(0.01, global_clipnorm=0.5)


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        target = scale(y)
        loss = loss_fn(target, net(x, training=True)) + sum(net.losses)
    watched = tape.watched_variables()
    grads = tape.gradient(loss, watched)
    optimizer.apply_gradients(zip(grads, watched))
    return loss


for _ in range(4):
    print(float(step(x, y)))
"""


def test_it_trains_as_before(tmp_path: Path, recording: ModuleType) -> None:
    result = migrate_source(PROGRAM.encode(), Path("a.py"))
    assert [site.code for site in result.sites] == ["TX113"]
    assert result.after is not None
    after = result.after.decode()
    assert "tx.setup(optimizer, (scale, net))" in after
    assert "    tx.update(opt_state, watched, grads)\n" in after
    assert "    grads = tape.gradient(loss, watched)\n" in after
    before = recording.record(PROGRAM, tmp_path / "before")
    assert compare(before, recording.record(after, tmp_path / "after")).equal


def test_the_list_may_be_asked_for_each_time() -> None:
    program = PROGRAM.replace("    watched = tape.watched_variables()\n", "")
    program = program.replace("watched)", "tape.watched_variables())")
    result = migrate_source(program.encode(), Path("a.py"))
    assert result.after is not None
    assert "    tx.update(opt_state, tape.watched_variables(), grads)\n" in result.after.decode()


def test_a_model_may_be_read_without_a_call() -> None:
    program = PROGRAM.replace("sum(net.losses)", "tf.nn.l2_loss(prior.kernel)")
    program = program.replace("net = Net()\n", "net = Net()\nprior = tf.keras.layers.Dense(1)\n")
    result = migrate_source(program.encode(), Path("a.py"))
    assert result.after is not None
    assert b"tx.setup(optimizer, (scale, net, prior))" in result.after


def test_a_model_of_self_and_what_it_holds() -> None:
    program = """\
import tensorflow as tf
class Net(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.head = tf.keras.layers.Dense(1)
        self.loss_fn = tf.keras.losses.MeanSquaredError()
        self.opt = tf.keras.optimizers.SGD(0.1)
    def step(self, x, y):
        with tf.GradientTape() as tape:
            loss = self.loss_fn(y, self(x)) + tf.reduce_mean(self.head(x))
        self.opt.apply_gradients(
            zip(tape.gradient(loss, tape.watched_variables()), tape.watched_variables())
        )
"""
    (site,) = migrate_source(program.encode(), Path("a.py")).sites
    assert (site.code, site.reason) == ("TX113", "")


LEFT = {
    "a_variable": ("net = Net()", "net = Net()\nw = tf.Variable(1.0)", "that no model has"),
    "a_function_of_the_file": (
        "loss_fn(target, net(x, training=True))",
        "square(net(x))",
        "variables of `square`",
    ),
    "a_function_given": ("sum(net.losses)", "tf.cond(True, step, step)", "variables of `step`"),
    "a_layer_of_another_file": (
        "target = scale(y)",
        "target = elsewhere.layer(y)",
        "variables of `elsewhere.layer`",
    ),
    "data_of_another_file": ("scale(y)", "tf.matmul(elsewhere, y)", "variables of `elsewhere`"),
    "no_model": (
        "scale(y)\n        loss = loss_fn(target, net(x, training=True)) + sum(net.losses)",
        "y\n        loss = loss_fn(target, x)",
        "that no model has",
    ),
    "frozen": ("net.spare(x)", "net.first.trainable = False", "what is frozen"),
    "watched_by_hand": (
        "        target",
        "        tape.watch(x)\n        target",
        "not all in sight",
    ),
    "asked_for_in_the_block": ("    watched", "        watched", "not all in sight"),
    "a_second_block": (
        "    grads =",
        "    with tape:\n        net(x)\n    grads =",
        "not all in sight",
    ),
}


@pytest.mark.parametrize("name", LEFT)
def test_what_the_tape_may_have_seen_besides_is_told(name: str, assert_left: AssertLeft) -> None:
    old, new, words = LEFT[name]
    program = PROGRAM.replace(
        "import tensorflow as tf\n", "import tensorflow as tf\nimport elsewhere\n"
    )
    assert old in program
    assert_left(program.replace(old, new, 1), ["TX206"], words)


def test_a_saved_model_is_left(assert_left: AssertLeft) -> None:
    """What is restored has no list of what it trains."""
    program = """\
import tensorflow as tf
imported = tf.saved_model.load("saved")
optimizer = tf.keras.optimizers.SGD(0.05)
def train_step():
    with tf.GradientTape() as tape:
        loss = (10.0 - imported(tf.constant(2.0))) ** 2
    variables = tape.watched_variables()
    grads = tape.gradient(loss, variables)
    optimizer.apply_gradients(zip(grads, variables))
    return loss
"""
    assert_left(program, ["TX206"], "may hold variables of `imported`")
