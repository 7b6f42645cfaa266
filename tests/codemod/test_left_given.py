"""Optimizers that callers or `compile` give, and that cannot be followed: left with a reason."""

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
GIVEN = "def step(o):\n    o.apply_gradients(zip(grads, model.trainable_variables))\n"
COMPILED = """\
import keras
import tensorflow as tf
class Net(keras.Model):
    def train_step(self, data):
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
"""
MINIMIZE = "minimize(loss, self.trainable_variables, tape=tape)"
OWN_OPTIMIZER = """\
import tensorflow as tf
class Net(tf.keras.Model):
    def __init__(self):
        self.optimizer = tf.keras.optimizers.Adam()
    def step(self):
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
"""

# name: (program, the codes of its sites in order, words that the first reason must hold)
LEFT = {
    "parameter_with_a_default": (
        HEAD + "def step(o=opt):\n    o.apply_gradients(zip(grads, model.trainable_variables))\n"
        "step(opt)\n",
        ["TX201"],
        "has a default",
    ),
    "two_optimizers_for_one_traced_function": (
        HEAD + "other = tf.keras.optimizers.SGD()\n"
        "@tf.function\ndef step(o):\n"
        "    o.apply_gradients(zip(grads, model.trainable_variables))\nstep(opt)\nstep(other)\n",
        ["TX201"],
        "another one at each call",
    ),
    "two_optimizers_for_what_tf_function_made": (
        HEAD + GIVEN + "other = tf.keras.optimizers.SGD()\nfast = tf.function(step)\n"
        "fast(opt)\nfast(other)\n",
        ["TX201"],
        "another one at each call",
    ),
    "optimizer_of_no_known_class": (
        HEAD.replace("optimizers.Adam", "dtensor.experimental.optimizers.Adam")
        + GIVEN
        + "step(opt)\n",
        ["TX201"],
        "is given `opt`, which cannot be proven to be a Keras optimizer",
    ),
    "made_in_the_call": (
        HEAD + GIVEN + "step(tf.keras.optimizers.SGD())\n",
        ["TX201"],
        "is given `tf.keras.optimizers.SGD()`, which has no name: name it first, `o = ...`",
    ),
    "what_tf_function_made_is_passed_on": (
        HEAD + GIVEN + "fast = tf.function(step)\nfast(opt)\nrun(fast)\n",
        ["TX201"],
        "out of sight",
    ),
    "what_tf_function_made_is_in_a_list": (
        HEAD + GIVEN + "steps = [tf.function(step)]\nsteps[0](opt)\n",
        ["TX201"],
        "out of sight",
    ),
    "one_caller_cannot_set_up": (
        HEAD + "def step(o):\n    o.apply_gradients(zip(grads, model.trainable_variables))\n"
        "step(opt)\nfor i in range(2):\n    if i:\n        late = tf.keras.optimizers.SGD()\n"
        "    step(late)\n",
        ["TX203"],
        "`late`",
    ),
    "optimizer_from_a_config_may_scale_the_loss": (
        HEAD.replace("Adam()", "get(config)")
        + "loss = f(x)\nopt."
        + MINIMIZE.replace("self", "model")
        + "\n",
        ["TX208"],
        "a way of its own",
    ),
    "compiled_model_of_another_file": (
        COMPILED,
        ["TX204"],
        "the model is made out of sight",
    ),
    "compiled_model_under_a_strategy": (
        COMPILED + "with tf.distribute.TPUStrategy(c).scope():\n    Net().compile('adam')\n",
        ["TX204"],
        "`TPUStrategy`",
    ),
    "compiled_model_loaded_whole": (
        COMPILED + "Net().compile('adam')\nkeras.models.load_model(path)\n",
        ["TX204"],
        "`load_model`",
    ),
    "compiled_model_saved_whole": (
        COMPILED + "import numpy as np\nnp.save(path, x)\nnet = Net()\nnet.compile('adam')\n"
        "net.save('net.keras')\n",
        ["TX204"],
        "`net.save`",
    ),
    "compiled_model_saved_by_a_callback": (
        COMPILED + "from keras.callbacks import ModelCheckpoint as Saver\n"
        "Net().compile('adam')\nSaver(path, save_weights_only=False)\n",
        ["TX204"],
        "`Saver`",
    ),
    "compiled_model_cloned": (
        COMPILED + "from keras.models import clone_model as clone\nclone(Net())\n",
        ["TX204"],
        "`clone_model`",
    ),
    "compile_that_returns_early": (
        COMPILED + "    def compile(self, **k):\n        if not k:\n            return\n"
        "        super().compile(**k)\nNet().compile(optimizer='adam')\n",
        ["TX204"],
        "in one plain statement",
    ),
    "hyperparameter_set_on_a_parameter": (
        HEAD + "def step(o):\n    o.apply_gradients(zip(grads, model.trainable_variables))\n"
        "    o.beta_1 = 0.5\nstep(opt)\n" + UPDATE,
        ["TX201", "TX201"],
        "`o` of `step` is changed: `o.beta_1`",
    ),
    "wrapped_after_a_step": (
        HEAD + GIVEN + "step(opt)\nif amp:\n"
        "    opt = tf.keras.mixed_precision.LossScaleOptimizer(opt)\nstep(opt)\n",
        ["TX203"],
        "`opt` is bound more than once",
    ),
    "wrapped_while_a_function_has_it": (
        HEAD + GIVEN + "def run():\n    step(opt)\nif amp:\n    run()\n"
        "    opt = tf.keras.mixed_precision.LossScaleOptimizer(opt)\nrun()\n",
        ["TX203"],
        "`opt` is bound more than once",
    ),
    "perhaps_another_optimizer_for_another_model": (
        HEAD + "def step(net, o):\n    o.apply_gradients(zip(grads, net.trainable_variables))\n"
        "step(model, opt)\nif c:\n    opt = tf.keras.optimizers.SGD()\n"
        "other = make()\nstep(other, opt)\n",
        ["TX203"],
        "`opt` is bound more than once",
    ),
    "model_compiled_in_the_same_file": (
        OWN_OPTIMIZER + "Net().compile()\n",
        ["TX204"],
        "compile",
    ),
    "a_model_that_may_be_the_compiled_one": (
        OWN_OPTIMIZER + "def run(net):\n    net.compile()\n",
        ["TX204"],
        "compile",
    ),
    "compiled_by_a_function_that_makes_it": (
        OWN_OPTIMIZER + "def made():\n    net = Net() if x else tf.keras.Sequential()\n"
        "    return net\nmade().compile()\n",
        ["TX204"],
        "compile",
    ),
    "a_derived_class_is_compiled": (
        OWN_OPTIMIZER + "class Wide(Net):\n    pass\nWide().compile()\n",
        ["TX204"],
        "compile",
    ),
    "an_optimizer_that_a_frozen_model_gets_by_compile": (
        "import tensorflow as tf\nclass Net(tf.keras.Model):\n"
        "    def __init__(self, probe):\n        super().__init__()\n        self.probe = probe\n"
        "        probe.trainable = x\n"
        "    def compile(self, opt, **k):\n        super().compile(**k)\n        self.opt = opt\n"
        "    def train_step(self, data):\n"
        "        self.opt.apply_gradients(zip(grads, self.probe.trainable_variables))\n",
        ["TX201"],
        "`opt` of `compile`",
    ),
}


@pytest.mark.parametrize("name", LEFT)
def test_bug_41_a_site_is_left_with_its_reason(name: str, assert_left: AssertLeft) -> None:
    assert_left(*LEFT[name])
