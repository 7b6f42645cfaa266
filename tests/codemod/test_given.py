"""Optimizers that callers give: which are taken over, and which are left."""

from __future__ import annotations

from pathlib import Path

import pytest
from tfexplicit_codemod.engine import migrate_source
from tfexplicit_codemod.migration import migrate_paths
from tfexplicit_codemod.settings import Settings

STEP = """\
    def step(self):
        with tf.GradientTape() as tape:
            loss = self.loss()
        grads = tape.gradient(loss, self.net.trainable_variables)
        self.opt.apply_gradients(zip(grads, self.net.trainable_variables))
"""
CLASS = (
    "import tensorflow as tf\nclass Agent:\n    def __init__(self, net, opt):\n"
    "        self.net = net\n        self.opt = opt\n" + STEP
)
HELPER = """\
def clip(pairs, norm):
    new = []
    for grad, variable in pairs:
        grad = tf.clip_by_norm(grad, norm)
        new.append((grad, variable))
    return new
"""
PAIRS = CLASS.replace(
    "        self.opt.apply_gradients(zip(grads, self.net.trainable_variables))\n",
    "        pairs = list(zip(grads, self.net.trainable_variables))\n"
    "        if self.norm:\n            pairs = clip(pairs, self.norm)\n"
    "        self.opt.apply_gradients(pairs)\n",
)
BUILT = CLASS.replace(
    "        grads = tape.gradient(loss, self.net.trainable_variables)\n",
    "        v = self.net.trainable_variables\n        ADD\n"
    "        grads = tape.gradient(loss, v)\n",
).replace("zip(grads, self.net.trainable_variables)", "zip(grads, v)")
INNER = """\
import tensorflow as tf
def make(net, opt):
    def step():
        with tf.GradientTape() as tape:
            loss = net()
        grads = tape.gradient(loss, net.trainable_variables)
        opt.apply_gradients(zip(grads, net.trainable_variables))
    return step
"""

TAKEN = {
    "class": CLASS,
    "keras_annotation": CLASS.replace("net, opt", "net, opt: tf.keras.optimizers.Optimizer"),
    "helper": PAIRS + HELPER,
    "inner_step": INNER,
    "put_together": BUILT.replace("ADD", "v = sorted(v, key=str)"),
}
LEFT = {
    "annotation_of_another_library": (
        "import optax\n" + CLASS.replace("net, opt", "net, opt: optax.GradientTransformation"),
        "TX201",
    ),
    "annotation_of_tensorflow_1": (
        CLASS.replace("net, opt", "net, opt: tf.compat.v1.train.Optimizer"),
        "TX201",
    ),
    "annotation_of_the_project": (
        CLASS.replace("net, opt", "net, opt: Mine").replace("class A", "class Mine: ...\nclass A"),
        "TX201",
    ),
    "helper_that_drops_pairs": (
        PAIRS
        + HELPER.replace(
            "        new.append", "        if grad is not None:\n            new.append"
        ),
        "TX212",
    ),
    "helper_that_gives_other_variables": (
        PAIRS + HELPER.replace("grad, variable))", "grad, other))"),
        "TX212",
    ),
    "helper_that_turns_pairs_round": (
        PAIRS + HELPER.replace("return new", "new.reverse()\n    return new"),
        "TX212",
    ),
    "unknown_helper": (PAIRS, "TX212"),
    "list_that_is_extended": (BUILT.replace("ADD", "v.extend(self.other.variables)"), "TX206"),
    "list_with_a_part_at_times": (
        BUILT.replace("ADD", "if self.flag:\n            v = v + self.head.trainable_variables"),
        "TX206",
    ),
    "list_with_a_part_twice": (
        BUILT.replace("ADD", "v = v + self.net.trainable_variables"),
        "TX206",
    ),
    "module_that_hides_layers": (
        BUILT.replace("ADD", "v = sorted(v)")
        .replace("self.net = net", "self.net = Held()")
        .replace(
            "class A",
            "class Held(tf.Module):\n    def __init__(self):\n"
            "        self.layer = tf.keras.layers.Dense(1)\nclass A",
        ),
        "TX206",
    ),
    "inner_step_of_a_traced_function": (
        INNER.replace("def make", "@tf.function\ndef make"),
        "TX201",
    ),
    "model_made_after_the_step": (
        INNER.replace("make(net, opt)", "make(opt)").replace(
            "    return", "    net = tf.keras.Model()\n    return"
        ),
        "TX201",
    ),
}


@pytest.mark.parametrize("name", TAKEN)
def test_taken_over(name: str) -> None:
    result = migrate_source(TAKEN[name].encode(), Path("a.py"))
    assert [site.code for site in result.sites] == ["TX114"]
    assert result.after is not None
    assert " is None else tx.setup(" in result.after.decode()
    own_list = 'tx.setup(self.opt, self.net, build="at_first_update")'
    assert (own_list in result.after.decode()) == (name == "put_together")
    assert migrate_source(result.after, Path("a.py")).after is None


def test_a_state_between_two_functions_has_room_on_both_sides() -> None:
    text = INNER.replace("    def step", "    def other():\n        return 1\n\n    def step")
    after = migrate_source(text.encode(), Path("a.py")).after
    state = "    opt_state = None if opt is None else tx.setup(opt, net)\n"
    assert after is not None
    assert f"        return 1\n\n{state}\n    def step" in after.decode()


@pytest.mark.parametrize("name", LEFT)
def test_left(name: str) -> None:
    text, code = LEFT[name]
    result = migrate_source(text.encode(), Path("a.py"))
    assert [site.code for site in result.sites] == [code]
    assert b"setup" not in (result.after or b"")


COMPILED = """\
import tensorflow as tf
class Net(tf.keras.Model):
    def compile(self, opt):
        super().compile(optimizer=opt)
    def train_step(self, data):
        with tf.GradientTape() as tape:
            loss = self.loss(data)
        heads = self.a.trainable_weights if self.one else self.heads[0].trainable_weights
        grads = tape.gradient(loss, self.body.trainable_weights + heads)
        self.optimizer.apply_gradients(zip(grads, self.body.trainable_weights + heads))
"""


@pytest.mark.parametrize(
    ("text", "other", "code"),
    [
        (COMPILED, "Net().fit(x)\n", "TX108"),
        (COMPILED, "class B(Net):\n    def compile(self, o):\n        pass\n", "TX204"),
        (COMPILED.replace("self.heads[0]", "outer.head"), "", "TX206"),
        (COMPILED.replace("        grads", "        heads.append(v)\n        grads"), "", "TX206"),
    ],
)
def test_a_model_with_a_compile_of_its_own(
    tmp_path: Path, text: str, other: str, code: str
) -> None:
    (tmp_path / "net.py").write_text(text)
    (tmp_path / "other.py").write_text("from net import Net\n" + other)
    results = list(migrate_paths([tmp_path], Settings()))
    assert [site.code for result in results for site in result.sites] == [code]
    made = b'tx.setup(self.optimizer, self, build="at_first_update")'
    assert any(made in (result.after or b"") for result in results) == (code == "TX108")


@pytest.mark.parametrize(
    ("other", "code"),
    [
        ("class B(Agent):\n    def late(self):\n        self.net = None\n", "TX203"),
        ("Agent(None, None).opt = None\n", "TX203"),
        ("class B(Agent):\n    pass\nclass C:\n    def f(self):\n        self.x = 1\n", "TX114"),
    ],
)
def test_a_class_that_other_files_change(tmp_path: Path, other: str, code: str) -> None:
    (tmp_path / "agent.py").write_text(CLASS)
    (tmp_path / "other.py").write_text("from agent import Agent\n" + other)
    sites = [site for result in migrate_paths([tmp_path], Settings()) for site in result.sites]
    assert [site.code for site in sites] == [code]
