"""Variable lists and gradients that cannot be proven: left with the right code and reason."""

from __future__ import annotations

from collections.abc import Callable

import pytest

AssertLeft = Callable[[str, list[str], str], None]

HEAD = """\
import tensorflow as tf
model = make()
opt = tf.keras.optimizers.Adam()
"""
UPDATE = "opt.apply_gradients(zip(grads, model.trainable_variables))\n"
ALL_VARIABLES = """\
import tensorflow as tf
model = tf.keras.Sequential()
opt = tf.keras.optimizers.Adam()
"""
ALL_STEP = """\
grads = tape.gradient(loss, model.variables)
opt.apply_gradients(zip(grads, model.variables))
"""
PRIVATE = """\
import tensorflow as tf
class T:
    def fit(self):
        self.opt = tf.keras.optimizers.Adam()
        w = tf.Variable(1.0)
        self._step(w)
    def _step(self, w):
        self.opt.apply_gradients([(grad, w)])
"""

# name: (program, the codes of its sites in order, words that the first reason must hold)
LEFT = {
    "a_method_adds_to_the_list": (
        PRIVATE.replace("self._step(w)", "self.net = make()").replace(
            "    def _step(self, w):\n        self.opt.apply_gradients([(grad, w)])\n",
            "    def _all(self):\n        v = self.net.trainable_variables\n"
            "        v.extend(self.more.variables)\n        return v\n"
            "    def _step(self):\n        v = self._all()\n"
            "        self.opt.apply_gradients(zip(tape.gradient(loss, v), v))\n",
        ),
        ["TX206"],
        "`self._all()` is put together by a call",
    ),
    "variables_grow": (
        HEAD + "v = model.trainable_variables\nv += other.trainable_variables\n"
        "opt.apply_gradients(zip(grads, v))\n",
        ["TX206"],
        "several statements",
    ),
    "variables_appended_to": (
        HEAD + "v = model.trainable_variables\nv.append(w)\nopt.apply_gradients(zip(grads, v))\n",
        ["TX206"],
        "changed after",
    ),
    "a_variable_of_two_dicts": (
        HEAD + "a = {'w': tf.Variable(1.0)}\nb = {'v': tf.Variable(2.0), 'w': a['w']}\n"
        "opt.apply_gradients(zip(grads, list(a.values()) + list(b.values())))\n",
        ["TX206"],
        "`b.values()` may hold a variable twice",
    ),
    "all_variables": (
        HEAD + "opt.apply_gradients(zip(grads, model.variables))\n",
        ["TX206"],
        "not trained",
    ),
    "watched_variables": (
        HEAD + "opt.apply_gradients(zip(grads, tape.watched_variables()))\n",
        ["TX206"],
        "not all in sight",
    ),
    "the_same_model_twice": (
        HEAD + "opt.apply_gradients(zip(g, model.trainable_variables + model.trainable_variables))",
        ["TX206"],
        "twice",
    ),
    "the_same_variable_twice": (
        HEAD + "a, b = tf.Variable(1.0), tf.Variable(2.0)\nweights = [a, b, a]\n"
        "opt.apply_gradients(zip(tape.gradient(loss, weights), weights))\n",
        ["TX206"],
        "`[a, b, a]` names a variable twice",
    ),
    "loop_over_pairs": (
        HEAD + "for g, v in zip(grads, model.trainable_variables):\n"
        "    opt.apply_gradients([(g, v)])\n",
        ["TX203"],
        "`v`",
    ),
    "gradients_by_the_head_only": (
        HEAD + "grads = tape.gradient(loss, model.head.trainable_variables)\n" + UPDATE,
        ["TX213"],
        "`model.head.trainable_variables`",
    ),
    "gradients_in_another_order": (
        HEAD
        + "W = v()\nb = v()\ngrads = tape.gradient(loss, [b, W])\n"
        + "opt.apply_gradients(zip(grads, [W, b]))\n",
        ["TX213"],
        "[b, W]",
    ),
    "pairs_without_none_by_name": (
        HEAD + "pairs = [(g, v) for g, v in zip(grads, model.trainable_variables) if g is not None]"
        "\nopt.apply_gradients(pairs)\n",
        ["TX212"],
        "`pairs`",
    ),
    "pairs_filtered": (
        HEAD + "opt.apply_gradients([(g, v) for g, v in zip(grads, model.trainable_variables) "
        "if 'bias' not in v.name])\n",
        ["TX212"],
        "`[(g, v) for",
    ),
    "frozen_layer_among_all_variables": (
        ALL_VARIABLES + "model.layers[0].trainable = False\n" + ALL_STEP,
        ["TX206"],
        "`model.variables` also holds variables that are not trained",
    ),
    "watched_variable_among_all": (
        ALL_VARIABLES + "tape.watch(model.variables)\n" + ALL_STEP,
        ["TX206"],
        "`model.variables`",
    ),
    "gradients_of_all_variables_used_again": (
        ALL_VARIABLES + ALL_STEP + "print(len(grads))\n",
        ["TX206"],
        "whose gradients are used",
    ),
    "all_variables_of_an_unknown_model": (
        ALL_VARIABLES.replace("tf.keras.Sequential()", "make()") + ALL_STEP,
        ["TX206"],
        "`model.variables`",
    ),
    "slots_of_all_variables_in_a_checkpoint": (
        ALL_VARIABLES + ALL_STEP + "tf.train.Checkpoint(optimizer=opt)\n",
        ["TX206"],
        "`opt` has slots for variables that are not trained",
    ),
    "all_variables_minimized": (
        ALL_VARIABLES + "opt.minimize(loss_fn, var_list=model.variables)\n",
        ["TX206"],
        "`model.variables`",
    ),
    "variables_given_to_the_method": (
        "import tensorflow as tf\nclass T:\n"
        "    def __init__(self):\n        self.opt = tf.keras.optimizers.Adam()\n"
        "    def step(self, mask):\n        self.opt.apply_gradients([(grad, mask)])\n",
        ["TX202"],
        "`mask` is a parameter of `step`",
    ),
    "a_private_method_is_given_others": (
        PRIVATE + "    def more(self):\n        w = tf.Variable(1.0)\n        self._step(w)\n",
        ["TX202"],
        "`w` is a parameter of `_step`",
    ),
    "a_private_method_is_called_on_another_object": (
        PRIVATE + "T()._step(v)\n",
        ["TX202"],
        "`w` is a parameter of `_step`",
    ),
    "a_private_method_is_passed_on": (
        PRIVATE + "    def run(self):\n        strategy.run(self._step, args=(v,))\n",
        ["TX202"],
        "`w` is a parameter of `_step`",
    ),
    "a_private_method_is_found_by_name": (
        PRIVATE + "getattr(T(), '_step')(v)\n",
        ["TX202"],
        "`w` is a parameter of `_step`",
    ),
    "variables_made_in_a_loop_for_a_private_method": (
        PRIVATE.replace("        w =", "        for i in r:\n            w =").replace(
            "        self._step(w)", "            self._step(w)"
        ),
        ["TX203"],
        "`w` is made anew in a loop",
    ),
}


@pytest.mark.parametrize("name", LEFT)
def test_bug_41_a_site_is_left_with_its_reason(name: str, assert_left: AssertLeft) -> None:
    assert_left(*LEFT[name])
