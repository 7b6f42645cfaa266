"""Lists and dicts of optimizers beside lists and dicts of models."""

from __future__ import annotations

from pathlib import Path

import pytest
from tfexplicit_codemod.cli import main
from tfexplicit_codemod.engine import migrate_source

HEAD = "import tensorflow as tf\nfrom tensorflow.keras.optimizers import SGD\n"
STEP = """\
for i in {places}:
    grads = tape.gradient(loss, models[i].trainable_variables)
    opts[i].apply_gradients(zip(grads, models[i].trainable_variables))
"""
LISTS = "models = [make(), make()]\nopts = [SGD(), SGD()]\n"
DICTS = "models = {'a': make(), 'b': make()}\nopts = {'b': SGD(), 'a': SGD()}\n"
OVER_RANGE = "models = [make() for _ in range(n)]\nopts = [SGD(j) for j in range(n)]\n"
OVER_NAMES = "models = {k: make() for k in names}\nopts = {k: SGD() for k in names}\n"


def program(made: str, step: str = STEP) -> str:
    return HEAD + "n = 2\nnames = 'ab'\n" + made + step.format(places="range(n)")


@pytest.mark.parametrize("made", [LISTS, DICTS, OVER_RANGE, OVER_NAMES])
def test_states_beside_them(made: str) -> None:
    result = migrate_source(program(made).encode(), Path("a.py"))
    assert [site.code for site in result.sites] == ["TX112"]
    assert result.after is not None
    text = result.after.decode()
    states = (
        "{key: tx.setup(opts[key], models[key]) for key in opts}"
        if "{" in made
        else "[tx.setup(*pair) for pair in zip(opts, models)]"
    )
    assert f"opt_states = {states}\n" in text
    assert "grads = tape.gradient(loss, tx.trainables(models[i]))\n" in text
    assert "tx.update(opt_states[i], models[i], grads)\n" in text
    assert migrate_source(result.after, Path("a.py")).after is None


SHARED = "opt = SGD()\nmodels = [make(), make()]\nopts = [opt, opt]\n"
LEFT = {
    "lengths": program("models = [make()]\nopts = [SGD(), SGD()]\n"),
    "keys": program("models = {'a': make()}\nopts = {'b': SGD()}\n"),
    "ranges": program(OVER_RANGE.replace("j in range(n)", "j in range(3)")),
    "filtered": program(OVER_RANGE.replace("j in range(n)", "j in range(n) if j")),
    "appended": program(LISTS + "models.append(make())\n"),
    "replaced": program(LISTS + "opts[0] = SGD()\n"),
    "one_optimizer_twice": program(SHARED),
    "other_place": program(LISTS, STEP.replace("opts[i]", "opts[0]")),
    "counted_on": program(LISTS, STEP + "    i += 1\n"),
    "other_models": program(LISTS, STEP + STEP.replace("models", "targets"))
    + "targets = [make(), make()]\n",
    "grown": program(LISTS) + "models[0].add(layer)\n",
    "grown_in_a_loop": program(LISTS) + "for m in models:\n    m.add(layer)\n",
    "changed_optimizer": program(LISTS) + "for o in opts:\n    o.momentum = 0.5\n",
}


@pytest.mark.parametrize("name", LEFT)
def test_what_is_not_sure_is_left(name: str) -> None:
    result = migrate_source(LEFT[name].encode(), Path("a.py"))
    assert {site.left for site in result.sites} == {True}


DICT_PROGRAM = """\
import tensorflow as tf

tf.keras.utils.set_random_seed(1)
x = tf.random.normal((32, 4))


class Pair:
    def __init__(self):
        self.nets = {"a": self.make(), "b": self.make()}
        self.optimizers = {"a": tf.keras.optimizers.Adam(), "b": tf.keras.optimizers.RMSprop()}

    def make(self):
        return tf.keras.Sequential([tf.keras.layers.Dense(8), tf.keras.layers.Dense(1)])

    def step(self, name):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(self.nets[name](x) - 1.0))
        grads = tape.gradient(loss, self.nets[name].trainable_variables)
        self.optimizers[name].apply_gradients(zip(grads, self.nets[name].trainable_variables))
        return float(loss)


pair = Pair()
print([pair.step(name) for name in "aababb"])
print({name: int(optimizer.iterations) for name, optimizer in pair.optimizers.items()})
"""


def test_a_dict_of_optimizers_trains_as_before(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (site,) = migrate_source(DICT_PROGRAM.encode(), Path("a.py")).sites
    assert site.code == "TX112"
    script = tmp_path / "pair.py"
    script.write_text(DICT_PROGRAM)
    code = main(["verify", str(script)])
    assert code == 0, capfd.readouterr().out
