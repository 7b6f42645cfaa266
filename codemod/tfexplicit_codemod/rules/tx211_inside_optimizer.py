"""TX211: the call is inside an optimizer class."""

from __future__ import annotations

from tfexplicit_codemod.leave import Leave
from tfexplicit_codemod.registry import Rule


def leave(receiver: str) -> Leave:
    return Leave(rule.code, f"`{receiver}` is stepped inside an optimizer class")


rule = Rule(
    code="TX211",
    name="inside-optimizer",
    summary="The call is inside an optimizer class.",
    why=(
        "A custom optimizer is stepped by its own code. Leave it: `setup` takes an optimizer "
        "of such a class as it is."
    ),
    before="""\
import tensorflow as tf

tf.keras.utils.set_random_seed(1)
x = tf.random.normal((32, 4))
y = tf.reduce_sum(x, axis=1, keepdims=True)


class Halved(tf.keras.optimizers.SGD):
    def __init__(self):
        super().__init__()
        self.inner = tf.keras.optimizers.SGD(0.1)

    def apply_gradients(self, grads_and_vars):
        halved = [(grad / 2, variable) for grad, variable in grads_and_vars]
        self.inner.apply_gradients(halved)


model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(optimizer=Halved(), loss="mse")
model.fit(x, y, epochs=3, verbose=2)
""",
    after="""\
import tensorflow as tf

tf.keras.utils.set_random_seed(1)
x = tf.random.normal((32, 4))
y = tf.reduce_sum(x, axis=1, keepdims=True)


class Halved(tf.keras.optimizers.SGD):
    def __init__(self):
        super().__init__()
        self.inner = tf.keras.optimizers.SGD(0.1)

    def apply_gradients(self, grads_and_vars):
        halved = [(grad / 2, variable) for grad, variable in grads_and_vars]
        # TODO(tfexplicit TX211): `self.inner` is stepped inside an optimizer class
        self.inner.apply_gradients(halved)


model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(optimizer=Halved(), loss="mse")
model.fit(x, y, epochs=3, verbose=2)
""",
)
