"""Plausible mistakes, each planted into a migrated program, are found and named where they are."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest
from tfexplicit_codemod.engine import migrate_source
from tfexplicit_codemod.verify.compare import compare
from tfexplicit_codemod.verify.hints import hints_for
from tfexplicit_codemod.verify.records import Trajectory

HEAD = """\
import tensorflow as tf

tf.keras.utils.set_random_seed(1)
x = tf.random.normal((8, 4))
y = tf.reduce_sum(x, axis=1, keepdims=True)
"""

# One model with a frozen layer, BatchNorm, a penalty and what is done to the gradients; two phases.
ONE_MODEL = f"""{HEAD}
layers = tf.keras.layers
penalty = tf.keras.regularizers.L2(0.1)
frozen = layers.Dense(4, name="frozen")
model = tf.keras.Sequential(
    [
        frozen,
        layers.BatchNormalization(name="norm"),
        layers.Dense(4, "tanh", name="one", use_bias=False, kernel_regularizer=penalty),
        layers.Dense(4, name="two", use_bias=False),
        layers.Dense(1, name="last"),
    ]
)
model.build((None, 4))
frozen.trainable = False
optimizer = tf.keras.optimizers.AdamW(0.01, weight_decay=0.1, beta_1=0.8)


def step(inputs):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(inputs, training=True) - y))
        loss += sum(model.losses)
    grads = tape.gradient(loss, model.trainable_variables)
    grads = [tf.clip_by_norm(grad, 0.5) for grad in grads]
    grads = [0.9 * grad for grad in grads]
    optimizer.apply_gradients(zip(grads, model.trainable_variables))


for _ in range(2):
    step(x)
for _ in range(2):
    step(-x)
"""

# Two optimizers for two models; one of them with momentum.
TWO_OPTIMIZERS = f"""{HEAD}
encoder = tf.keras.Sequential([tf.keras.layers.Dense(4, name="encoder")])
decoder = tf.keras.Sequential([tf.keras.layers.Dense(1, name="decoder")])
e_optimizer = tf.keras.optimizers.SGD(
    tf.keras.optimizers.schedules.PiecewiseConstantDecay([2], [0.1, 0.01])
)
d_optimizer = tf.keras.optimizers.SGD(0.05, momentum=0.9, nesterov=True)
for batch in range(4):
    with tf.GradientTape(persistent=True) as tape:
        loss = tf.reduce_mean(tf.square(decoder(encoder(x)) - y))
    e_grads = tape.gradient(loss, encoder.trainable_variables)
    d_grads = tape.gradient(loss, decoder.trainable_variables)
    e_optimizer.apply_gradients(zip(e_grads, encoder.trainable_variables))
    d_optimizer.apply_gradients(zip(d_grads, decoder.trainable_variables))
"""

# One optimizer for two models together, then for one of them alone.
TOGETHER = f"""{HEAD}
encoder = tf.keras.Sequential([tf.keras.layers.Dense(4, name="encoder")])
decoder = tf.keras.Sequential([tf.keras.layers.Dense(1, name="decoder")])
optimizer = tf.keras.optimizers.Adam(0.05)
for batch in range(4):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(decoder(encoder(x)) - y))
    leaves = encoder.trainable_variables + decoder.trainable_variables
    grads = tape.gradient(loss, leaves)
    optimizer.apply_gradients(zip(grads, encoder.trainable_variables + decoder.trainable_variables))
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.abs(decoder(encoder(-x)) - y))
    grads = tape.gradient(loss, decoder.trainable_variables)
    optimizer.apply_gradients(zip(grads, decoder.trainable_variables))
"""

PROGRAMS = {"one model": ONE_MODEL, "two optimizers": TWO_OPTIMIZERS, "together": TOGETHER}

EPSILON_INSIDE = """\
class Inside(tx.Rule):
    def init(self, leaf):
        return {"m": tf.zeros_like(leaf), "v": tf.zeros_like(leaf)}

    def apply(self, slots, leaf, grad, step):
        t = tf.cast(step, grad.dtype) + 1.0
        m, v = 0.9 * slots["m"] + 0.1 * grad, 0.999 * slots["v"] + 0.001 * grad**2
        rate = 0.05 * tf.sqrt(1.0 - 0.999**t) / (1.0 - 0.9**t)
        return rate * m / tf.sqrt(v + 1e-7), {"m": m, "v": v}


optimizer = Inside()
"""

ONE, TWO, BOTH = "one model", "two optimizers", "together"
ADAMW = "tx.AdamW(0.01, weight_decay=0.1, beta_1=0.8)"
CLIP = "    grads = [tf.clip_by_norm(grad, 0.5) for grad in grads]\n"
SCALE = "    grads = [0.9 * grad for grad in grads]\n"
STEP = "    tx.update(opt_state, model, grads)\n"
E_STEP = "    tx.update(e_opt_state, encoder, e_grads)\n"
D_STEP = "    tx.update(d_opt_state, decoder, d_grads)\n"
TOGETHER_STEP = "    tx.update(opt_state, (encoder, decoder), grads)\n"
ALONE_STEP = "    tx.update(opt_state, decoder, grads)\n"
SWAPPED = "tx.setup(d_optimizer, encoder), tx.setup(e_optimizer, decoder)"
OWN_STATE = """\
    alone = alone if batch else tx.setup(optimizer, decoder)
    tx.update(alone, decoder, grads)
"""
SECOND_PHASE = "for _ in range(2):\n    step(-x)"

# The program, what is replaced by what; where the first difference is, and in what.
MISTAKES = {
    "learning rate off": (ONE, "AdamW(0.01", "AdamW(0.011", "update 1", "leaf"),
    "learning rate hardly off": (ONE, "AdamW(0.01", "AdamW(0.01001", "update 1", "leaf"),
    "decay applied twice": (
        *(ONE, ADAMW, f"tx.Chain({ADAMW}, tx.DecoupledWeightDecay(0.1))", "update 1", "leaf"),
    ),
    "decay left out": (ONE, "weight_decay=0.1", "weight_decay=0.0", "update 1", "leaf"),
    "beta at its default": (ONE, ", beta_1=0.8", "", "update 2", "leaf"),
    "epsilon moved into the root": (
        *(BOTH, "optimizer = tx.Adam(0.05)\n", EPSILON_INSIDE, "update 1", "leaf"),
    ),
    "epsilon of another framework": (
        *(BOTH, "tx.Adam(0.05)", "tx.Adam(0.05, epsilon=1e-3)", "update 1", "leaf"),
    ),
    "BatchNorm left out": (ONE, "training=True", "training=False", "update 1", "norm/moving_mean"),
    "BatchNorm run once more at the end": (
        *(ONE, SECOND_PHASE, f"{SECOND_PHASE}\nmodel(x, training=True)"),
        *("the end", "norm/moving_mean"),
    ),
    "weights restored at the end": (
        *(
            ONE,
            SECOND_PHASE,
            f"{SECOND_PHASE}\nfrozen.set_weights([2 * each for each in frozen.get_weights()])",
        ),
        *("the end", "frozen/kernel"),
    ),
    "frozen layer moving": (
        *(ONE, "frozen.trainable = False", "frozen.trainable = True"),
        *("update 1", "step of sequential/frozen/kernel and 1 more"),
    ),
    "penalty left out": (
        *(ONE, "sum(model.losses)", "0.0", "update 1", "gradient of leaf sequential/one/kernel"),
    ),
    "sum for mean": (ONE, "reduce_mean", "reduce_sum", "update 1", "gradient of leaf"),
    "clip after instead of before": (
        ONE,
        CLIP + SCALE,
        SCALE + CLIP,
        "update 1",
        "gradient of leaf",
    ),
    "clip left out": (ONE, CLIP, "", "update 1", "gradient of leaf"),
    "wrong variable order": (
        *(ONE, STEP, "    grads[2], grads[3] = grads[3], grads[2]\n" + STEP),
        *("update 1", "leaf sequential/"),
    ),
    "momentum lost at a phase change": (
        *(ONE, SECOND_PHASE, f"opt_state = tx.setup(optimizer, model)\n{SECOND_PHASE}"),
        *("update 3", "leaf"),
    ),
    "an update left out": (ONE, "for _ in range(2):\n    step(x)", "step(x)", "update 2", "leaf"),
    "the last update left out": (
        *(ONE, SECOND_PHASE, "step(-x)", "update 4", "update of sequential/norm/gamma and 5 more"),
    ),
    "an update made twice": (ONE, STEP, STEP * 2, "update 2", "leaf"),
    "one gradient None": (
        *(
            ONE,
            STEP,
            "    grads[-1] = None\n" + STEP,
            "update 1",
            "gradient of leaf sequential/last",
        ),
    ),
    "one model's update left out": (TWO, D_STEP, "", "update 2", "update of sequential_1/decoder"),
    "the updates in another order": (
        *(TWO, E_STEP + D_STEP, D_STEP + E_STEP, "update 1", "order of the updates"),
    ),
    "state made each step": (
        *(TWO, D_STEP, f"    d_opt_state = tx.setup(d_optimizer, decoder)\n{D_STEP}"),
        *("update 4", "leaf sequential_1/decoder"),
    ),
    "two optimizers swapped": (
        *(TWO, "for batch", f"e_opt_state, d_opt_state = {SWAPPED}\nfor batch"),
        *("update 1", "encoder"),
    ),
    "momentum left out": (TWO, "momentum=0.9, nesterov=True", "", "update 2", "decoder"),
    "nesterov left out": (TWO, ", nesterov=True", "", "update 2", "decoder"),
    "schedule left out": (
        *(TWO, "tf.keras.optimizers.schedules.PiecewiseConstantDecay([2], [0.1, 0.01])", "0.1"),
        *("update 7", "encoder"),
    ),
    "gradients scaled by a trifle": (
        *(TWO, D_STEP, D_STEP.replace("d_grads", "[1.01 * grad for grad in d_grads]")),
        *("update 2", "decoder"),
    ),
    "one model's gradients dropped": (
        *(BOTH, TOGETHER_STEP, "    tx.update(opt_state, encoder, grads[:2])\n"),
        *("update 1", "step of sequential_1/decoder/kernel and 1 more"),
    ),
    "one model's gradients zero": (
        *(BOTH, TOGETHER_STEP, f"    grads[3] *= 0.0\n{TOGETHER_STEP}", "update 1", "decoder/bias"),
    ),
    "a state of its own for the second model": (
        *(
            BOTH,
            ALONE_STEP,
            OWN_STATE + ALONE_STEP.replace("opt_state", "alone"),
            "update 2",
            "decoder",
        ),
    ),
}

HINTS = {
    "learning rate off": "moved 1.1 times as far: compare the learning rates",
    "decay left out": "The norm of the gradients is equal, so what differs is the rule",
    "BatchNorm left out": "The loss of this update is",
    "clip left out": "The gradients differ already",
    "an update left out": "The program before made 4 updates, the one after 3.",
    "an update made twice": "those of the update before it: is one update made twice?",
    "state made each step": "is tx.setup called more than once?",
    "momentum lost at a phase change": "is tx.setup called more than once?",
}


@pytest.fixture(scope="module")
def before(
    recording: ModuleType, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], Trajectory]:
    @cache
    def recorded(name: str) -> Trajectory:
        return recording.record(PROGRAMS[name], tmp_path_factory.mktemp("before") / "run")

    return recorded


@cache
def migrated(name: str) -> str:
    result = migrate_source(PROGRAMS[name].encode(), Path("program.py"))
    assert result.after is not None, result.reason
    return result.after.decode()


def sabotaged(name: str, right: str, wrong: str) -> str:
    program = migrated(name)
    assert right in program
    return program.replace(right, wrong)


@pytest.mark.parametrize("name", PROGRAMS)
def test_without_a_mistake_training_is_the_same(
    name: str, before: Callable[[str], Trajectory], recording: ModuleType, tmp_path: Path
) -> None:
    assert compare(before(name), recording.record(migrated(name), tmp_path / "run")).equal


@pytest.mark.parametrize("mistake", MISTAKES)
def test_the_mistake_is_found_where_it_is(
    mistake: str, before: Callable[[str], Trajectory], recording: ModuleType, tmp_path: Path
) -> None:
    name, right, wrong, place, what = MISTAKES[mistake]
    after = recording.record(sabotaged(name, right, wrong), tmp_path / "run")
    comparison = compare(before(name), after)
    assert comparison.first is not None
    assert comparison.first.place == place
    assert any(what in difference.what for difference in comparison.beyond)
    hints = " ".join(hints_for(before(name), after, comparison))
    assert HINTS.get(mistake, "") in hints
