"""`minimize` of an optimizer from `compile`, which Keras wraps in one that scales the loss."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from tfexplicit_codemod.engine import migrate_source

PROGRAM = """\
import numpy as np
import tensorflow as tf
import tf_keras


class Net(tf_keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden = tf_keras.layers.Dense(4)
        self.out = tf_keras.layers.Dense(1)

    def call(self, x):
        return self.out(self.hidden(x))

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            # Its gradients are too small for float16, unless the loss is scaled.
            loss = tf.reduce_mean(tf.cast(self(x, training=True), tf.float32) * 1e-6)
        self.optimizer.minimize(loss, self.trainable_variables, tape=tape)
        return {"loss": loss}


policy = tf_keras.mixed_precision.global_policy()
tf_keras.mixed_precision.set_global_policy("mixed_float16")
tf_keras.utils.set_random_seed(1)
net = Net()
net.compile(optimizer=tf_keras.optimizers.Adam(0.01))
x = np.random.default_rng(0).normal(size=(64, 4)).astype("float32")
net.fit(x, x, epochs=2, batch_size=16, verbose=0)
weights = [variable.numpy() for variable in net.trainable_variables]
tf_keras.mixed_precision.set_global_policy(policy)
"""


def test_it_scales_the_loss_after_the_rewrite_too() -> None:
    result = migrate_source(PROGRAM.encode(), Path("train.py"))
    assert result.after is not None
    after = result.after.decode()
    assert migrate_source(result.after, Path("train.py")).after is None
    assert "tx.minimize(loss, self.opt_state, self, tape=tape)" in after
    assert "tx.setup(self.optimizer, self)" in after
    for one, other in zip(weights_of(after), weights_of(PROGRAM), strict=True):
        np.testing.assert_array_equal(one, other)


def weights_of(program: str) -> Any:
    names: dict[str, Any] = {}
    exec(compile(program, "train.py", "exec"), names)
    return names["weights"]
