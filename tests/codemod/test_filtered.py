"""Updates of a list that is filtered from the variables of a model."""

from __future__ import annotations

from pathlib import Path

import pytest
from tfexplicit_codemod.cli import main
from tfexplicit_codemod.engine import migrate_source

PROGRAM = """\
import tensorflow as tf

tf.keras.utils.set_random_seed(1)
x = tf.random.normal((32, 4))
y = tf.reduce_sum(x, axis=1, keepdims=True)
encoder = tf.keras.Sequential([tf.keras.layers.Dense(8, "tanh")])
decoder = tf.keras.Sequential([tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.{optimizer}


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(decoder(encoder(x)) - y))
    every = encoder.trainable_variables + decoder.trainable_variables
    chosen = [v for v in every if "bias" not in v.path]
    grads = tape.gradient(loss, chosen)
    optimizer.apply_gradients(zip(grads, chosen))
    return loss


for _ in range(4):
    print(float(step(x, y)))
print(sum(float(tf.reduce_sum(v)) for v in encoder.trainable_variables))
"""
SIMPLE = """\
import tensorflow as tf
model = make()
opt = tf.keras.optimizers.Adam()
kernels = [v for v in model.trainable_variables if v.ndim == 2]
grads = tape.gradient(loss, kernels)
opt.apply_gradients(zip(grads, kernels))
"""


@pytest.mark.parametrize("optimizer", ["Adam(0.01)", "RMSprop(0.01, momentum=0.9)"])
def test_it_trains_as_before(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], optimizer: str
) -> None:
    program = PROGRAM.format(optimizer=optimizer)
    result = migrate_source(program.encode(), Path("a.py"))
    assert [site.code for site in result.sites] == ["TX113"]
    assert result.after is not None
    assert "tx.setup(optimizer, (encoder, decoder))" in result.after.decode()
    script = tmp_path / "filtered.py"
    script.write_text(program)
    code = main(["verify", str(script)])
    assert code == 0, capfd.readouterr().out


def test_beside_updates_of_the_whole_model() -> None:
    program = SIMPLE + "opt.apply_gradients(zip(all_grads, model.trainable_variables))\n"
    result = migrate_source(program.encode(), Path("a.py"))
    assert [site.left for site in result.sites] == [False, False]
    assert result.after is not None
    assert "opt_state = tx.setup(opt, model)\n" in result.after.decode()


@pytest.mark.parametrize(
    "other_use", ["ckpt = tf.train.Checkpoint(opt=opt)\n", "print(opt.variables)\n"]
)
@pytest.mark.parametrize(
    "named",
    ["[v for v in model.trainable_variables if v.ndim == 2]", "sorted(model.trainable_weights)"],
)
def test_an_optimizer_of_keras_is_built_on_the_list_in_its_order(
    other_use: str, named: str
) -> None:
    """Keras saves what it has for each variable under its place in the list."""
    program = SIMPLE.replace("[v for v in model.trainable_variables if v.ndim == 2]", named)
    result = migrate_source((program + other_use).encode(), Path("a.py"))
    assert [site.code for site in result.sites] == ["TX113"]
    assert result.after is not None
    text = result.after.decode()
    assert 'opt_state = tx.setup(opt, model, build="at_first_update")\n' in text
    assert "opt = tf.keras.optimizers.Adam()\n" in text


LEFT = {
    "optimizer_of_callers": (
        "def step(model, opt, loss, tape):\n"
        "    kernels = sorted(model.trainable_variables, key=str)\n"
        "    grads = tape.gradient(loss, kernels)\n"
        "    opt.apply_gradients(zip(grads, kernels))\n"
        "import tensorflow as tf\nstep(make(), tf.keras.optimizers.Adam(), 1.0, tape)\n"
    ),
    "mapped": SIMPLE.replace("[v for", "[v.value for"),
    "two_loops": SIMPLE.replace(" if v.ndim == 2", " for w in v"),
    "of_a_list": SIMPLE.replace("model.trainable_variables", "model.layers"),
    "changed": SIMPLE.replace("grads =", "kernels.append(bias)\ngrads ="),
    "minimize": SIMPLE.replace(
        "opt.apply_gradients(zip(grads, kernels))", "opt.minimize(loss, kernels)"
    ),
    "other_gradients": SIMPLE.replace("(loss, kernels)", "(loss, model.trainable_variables)"),
}


@pytest.mark.parametrize("name", LEFT)
def test_what_is_not_sure_is_left(name: str) -> None:
    (site,) = migrate_source(LEFT[name].encode(), Path("a.py")).sites
    assert site.left
