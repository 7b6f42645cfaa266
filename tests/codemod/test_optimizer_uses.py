"""TX115: what a program reads and sets of an optimizer, in the state's words or not at all."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest
from tfexplicit_codemod.engine import migrate_source
from tfexplicit_codemod.migration import migrate_paths
from tfexplicit_codemod.settings import Settings

PROGRAM = """\
import tensorflow as tf
from tensorflow.keras import backend as K

schedule = tf.keras.optimizers.schedules.ExponentialDecay(0.1, 2, 0.5)
rate = args.rate
model = tf.keras.Sequential([{first}, tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.{made}


def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(model(x))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))


step(tf.ones((2, 3)))
{use}
"""
BUILT, UNBUILT = "tf.keras.Input((3,))", "tf.keras.layers.Dense(2)"
READ = 'tf.cast(opt_state.hyper["learning_rate"], tf.float32)'
READ_IN_TEXT = READ.replace('"', "'")


def program_after(use: str, made: str = "SGD(0.1)", first: str = BUILT) -> str:
    source = PROGRAM.format(use=use, made=made, first=first)
    after = migrate_source(source.encode(), Path("a.py")).after
    assert after is not None
    assert b"tx.update(opt_state, model, grads)" in after
    return after.decode()


def assert_nothing_but_the_update_changes(use: str, made: str, first: str) -> None:
    after = program_after(use, made, first)
    assert f"optimizer = tf.keras.optimizers.{made}" in after
    assert after.endswith(f"step(tf.ones((2, 3)))\n{use}\n")


@pytest.mark.parametrize(
    ("use", "expected"),
    [
        ("print(optimizer.iterations.numpy())", "print(opt_state.step.numpy())"),
        ('f"{optimizer.iterations.numpy():05d}"', 'f"{opt_state.step.numpy():05d}"'),
        ("n = K.get_value(optimizer.iterations)", "n = opt_state.step.numpy()"),
        ("int(optimizer.iterations) / 2", "int(opt_state.step) / 2"),
        ("done = optimizer.iterations % 100 == 0", "done = opt_state.step % 100 == 0"),
        ("10 > optimizer.iterations", "10 > opt_state.step"),
        ("schedule(optimizer.iterations)", "schedule(opt_state.step)"),
        ("tf.cast(optimizer.iterations, rate.dtype)", "tf.cast(opt_state.step, rate.dtype)"),
        (
            'tf.summary.scalar("lr", optimizer.lr, step=optimizer.iterations)',
            f'tf.summary.scalar("lr", {READ}, step=opt_state.step)',
        ),
        ("tf.print(optimizer.iterations)", "tf.print(opt_state.step)"),
        ("rates = [optimizer.lr.numpy()]", f"rates = [{READ}.numpy()]"),
        ("K.get_value(optimizer.lr)", f"{READ}.numpy()"),
        ('f"{float(optimizer.lr)}"', f'f"{{float({READ_IN_TEXT})}}"'),
        ("f'{float(optimizer.lr)}'", f"f'{{float({READ})}}'"),
        ("optimizer.learning_rate = 1e-3", "tx.adjust(opt_state, learning_rate=1e-3)"),
        ("optimizer.lr.assign(rate); x = 1", "tx.adjust(opt_state, learning_rate=rate); x = 1"),
        (
            "K.set_value(optimizer.lr, 0.1 * K.get_value(optimizer.lr))",
            f"tx.adjust(opt_state, learning_rate=0.1 * {READ}.numpy())",
        ),
        (
            "optimizer.lr.assign(\n    max(\n        float(optimizer.lr),\n        2,\n    )\n)",
            f"tx.adjust(opt_state, learning_rate=max(\n        float({READ}),\n        2,\n    ))",
        ),
    ],
)
def test_every_use_is_one_of_the_state(use: str, expected: str) -> None:
    after = program_after(use)
    assert expected in after
    assert "\noptimizer = tx.SGD(0.1)\nopt_state = tx.setup(optimizer, model)\n" in after
    assert "optimizer." not in after.replace("keras.optimizers.", "")


@pytest.mark.parametrize(
    "use",
    [
        "print(optimizer.iterations)",
        'f"{optimizer.learning_rate}"',
        "lr = optimizer.learning_rate",
        "tf.train.Checkpoint(step=optimizer.iterations)",
        "optimizer.iterations % rate",
        "optimizer.iterations * 0.5",
        "optimizer.iterations / 2",
        "optimizer.iterations.assign(0)",
        "log(optimizer.iterations)",
        "optimizer.learning_rate * rate",
        "optimizer.learning_rate *= 0.5",
        "optimizer.learning_rate = rate",
        "optimizer.learning_rate = other = 0.1",
        "optimizer.lr = 0.1",
        "new = optimizer.learning_rate.assign(0.1)",
        "set_rate(optimizer.learning_rate.assign)",
        "optimizer.learning_rate.assign(*rates)",
        "optimizer.learning_rate.assign(0.1, True)",
        "optimizer.learning_rate.assign(lr := 0.1)",
        "optimizer.learning_rate.assign(  # slower\n    0.1\n)",
        "try:\n    lr = float(optimizer.lr)\nexcept AttributeError:\n    lr = 0.1",
        "len(optimizer.variables)",
        "print(optimizer.iterations.numpy(), optimizer.name)",
        "tf.train.Checkpoint(optimizer=optimizer)\nprint(optimizer.iterations.numpy())",
        "optimizer.learning_rate(optimizer.iterations)",
    ],
)
def test_a_use_that_may_read_otherwise_keeps_the_keras_object(use: str) -> None:
    assert_nothing_but_the_update_changes(use, "SGD(0.1)", BUILT)


@pytest.mark.parametrize(
    ("made", "first"),
    [("SGD(schedule)", BUILT), ("SGD(rate)", BUILT), ("SGD(0.1)", UNBUILT)],
    ids=["a schedule", "what may be one", "a model without leaves so far"],
)
def test_the_learning_rate_must_be_a_number_of_leaves_that_are_there(made: str, first: str) -> None:
    assert_nothing_but_the_update_changes("print(float(optimizer.learning_rate))", made, first)
    after = program_after("print(int(optimizer.iterations))", made, first)
    assert after.endswith("print(int(opt_state.step))\n")


@pytest.mark.parametrize(
    ("model", "is_built"),
    [
        ("tf.keras.Model(inputs, outputs)", True),
        ("tf.keras.Model(inputs=inputs, outputs=outputs)", True),
        ("tf.keras.Model(inputs)", False),
        ("tf.keras.applications.MobileNetV2(weights=None)", True),
        ("tf.keras.applications.mobilenet_v2.preprocess_input(x)", False),
        ("tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,))])", True),
        ("tf.keras.Sequential()", False),
        ("make()", True),
        ("make_other()", False),
        ("make_itself()", False),
    ],
)
def test_models_that_are_built_when_they_are_made(model: str, is_built: bool) -> None:
    functions = """
def make():
    made = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1)])
    made.summary()
    return made


def make_other():
    if args.big:
        return tf.keras.Sequential([tf.keras.layers.Dense(1)])
    return make()


def make_itself():
    return make_itself()
"""
    program = PROGRAM.format(use="lr = float(optimizer.lr)", made="SGD(0.1)", first=BUILT)
    lines = program.splitlines(keepends=True)
    at = next(n for n, line in enumerate(lines) if line.startswith("model ="))
    lines[at] = f"{functions}\n\nmodel = {model}\n"
    after = migrate_source("".join(lines).encode(), Path("a.py")).after
    assert after is not None
    assert (f"lr = float({READ})" in after.decode()) is is_built


@pytest.mark.parametrize("name", ["_kept", "model_kept"])
def test_a_name_of_the_program_is_not_taken_for_a_place_in_new_code(name: str) -> None:
    source = PROGRAM.format(use="", made="SGD(0.1)", first=BUILT).replace("model", name)
    after = migrate_source(source.encode(), Path("a.py")).after
    assert after is not None
    assert f"tx.trainables({name}))\n    tx.update(opt_state, {name}, grads)" in after.decode()


def test_a_count_of_accumulated_calls_is_that_of_keras() -> None:
    made = "SGD(0.1, gradient_accumulation_steps=2)"
    assert_nothing_but_the_update_changes("int(optimizer.iterations)", made, BUILT)


def test_a_schedule_that_the_optimizer_gave_is_called_by_its_own_name() -> None:
    after = program_after("optimizer.lr(optimizer.iterations)", "legacy.SGD(schedule)")
    assert after.endswith("schedule(opt_state.step)\n")


def test_a_function_that_may_run_before_there_is_a_state_keeps_the_keras_object() -> None:
    use = "def log():\n    print(int(optimizer.iterations))\n\n\nlog()\n"
    program = PROGRAM.format(use="", made="SGD(0.1)", first=BUILT)
    made = "optimizer = tf.keras.optimizers.SGD(0.1)\n"
    early = program.replace(made, "").replace("model = ", f"{made}{use}model = ")
    after = migrate_source(early.encode(), Path("a.py")).after
    assert after is not None
    assert f"{made}{use}model = " in after.decode()


@pytest.mark.parametrize(
    ("other", "is_read"),
    [
        ("import train\n\nprint(train.optimizer.iterations)\n", True),
        ("from train import optimizer as opt\n\nprint(opt.iterations)\n", True),
        ("from train import (\n    model,\n    optimizer,\n)\n", True),
        ("from train import *\n\nprint(optimizer.iterations)\n", True),
        ("import train\n\nprint(getattr(train, 'optimizer').iterations)\n", True),
        ("import train\n\noptimizer = train.model.layers[0]\nprint(optimizer)\n", False),
        ("import data\n\nprint(data.optimizer)\n", False),
    ],
)
def test_a_use_in_another_file_keeps_the_keras_object(
    other: str, is_read: bool, tmp_path: Path
) -> None:
    made = PROGRAM.format(use="print(int(optimizer.iterations))", made="SGD(0.1)", first=BUILT)
    (tmp_path / "train.py").write_text(made)
    (tmp_path / "main.py").write_text(other)
    results = {each.path.name: each for each in migrate_paths([tmp_path], Settings())}
    after = results["train.py"].after
    assert after is not None
    assert (b"optimizer = tf.keras.optimizers.SGD(0.1)\nopt_state =" in after) is is_read
    assert (b"print(int(optimizer.iterations))" in after) is is_read


def test_a_class_reads_the_state_that_it_keeps() -> None:
    program = """\
import tensorflow as tf


class Trainer:
    def __init__(self, inputs, outputs):
        self.model = tf.keras.Model(inputs, outputs)
        self.optimizer = tf.keras.optimizers.SGD(0.1)

    def step(this, x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(this.model(x))
        grads = tape.gradient(loss, this.model.trainable_variables)
        this.optimizer.apply_gradients(zip(grads, this.model.trainable_variables))
        this.optimizer.learning_rate.assign(0.1 / (1 + int(this.optimizer.iterations)))
"""
    after = migrate_source(program.encode(), Path("a.py")).after
    assert after is not None
    set_again = "tx.adjust(this.opt_state, learning_rate=0.1 / (1 + int(this.opt_state.step)))\n"
    assert after.decode().endswith(set_again)
    outside = program + "\n\ndef log(trainer):\n    print(int(trainer.optimizer.iterations))\n"
    after = migrate_source(outside.encode(), Path("a.py")).after
    assert after is not None
    assert b"self.optimizer = tf.keras.optimizers.SGD(0.1)" in after


TRAINING = """\
import tensorflow as tf
import {keras}

K = {backend}.backend
{keras}.utils.set_random_seed(1)
x = tf.random.normal((32, 4))
y = tf.reduce_sum(x, axis=1, keepdims=True)
schedule = {keras}.optimizers.schedules.ExponentialDecay(0.1, 2, 0.5)
inputs = {keras}.Input((4,))
model = {keras}.Model(inputs, {keras}.layers.Dense(1)({keras}.layers.Dense(8, "tanh")(inputs)))
optimizer = {keras}.optimizers.{made}


@tf.function
def train_step(x, y, factor):
    if optimizer.iterations % 3 == 2:
        optimizer.learning_rate.assign(factor * tf.cast(optimizer.learning_rate, tf.float32))
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    rate = tf.cast(optimizer.learning_rate, tf.float32)
    return loss, rate, optimizer.iterations + 1, schedule(optimizer.iterations)


losses, reads = [], []
for epoch in range(3):
    optimizer.learning_rate = 0.03 / (1 + epoch)
    for i in range(3):
        loss, *read = train_step(x, y, tf.constant(0.7 + 0.1 * i))
        losses.append(float(loss))
        reads += [each.numpy() for each in read]
    reads += [K.get_value(optimizer.learning_rate), optimizer.iterations.numpy()]
    optimizer.learning_rate.assign(optimizer.learning_rate * 0.9)
    reads += [float(optimizer.learning_rate), (optimizer.iterations // 2).numpy()]
"""


@pytest.mark.parametrize(
    ("keras", "backend", "made", "rule"),
    [
        ("keras", "tf.keras", "Adam(0.03)", b"tx.Adam(0.03)"),
        (
            *("tf_keras", "tf_keras", "SGD(0.03, weight_decay=0.1, clipnorm=1.0)"),
            b"tx.Chain(tx.ClipByNorm(1.0), tx.SGD(0.03), tx.DecoupledWeightDecay(0.1))",
        ),
    ],
    ids=["Keras 3", "tf_keras"],
)
def test_reads_and_new_learning_rates_are_what_they_were(
    keras: str, backend: str, made: str, rule: bytes, tmp_path: Path
) -> None:
    pytest.importorskip("tf_keras")
    before = TRAINING.format(keras=keras, backend=backend, made=made)
    after = migrate_source(before.encode(), Path("a.py")).after
    assert after is not None
    assert b"optimizer = " + rule in after
    (tmp_path / "before.py").write_text(before)
    (tmp_path / "after.py").write_bytes(after)
    old, new = (runpy.run_path(str(tmp_path / f"{name}.py")) for name in ("before", "after"))
    np.testing.assert_allclose(new["losses"], old["losses"], rtol=1e-5)
    assert [(type(each), each) for each in new["reads"]] == [
        (type(each), each) for each in old["reads"]
    ]
    assert len(set(old["reads"])) > 20
