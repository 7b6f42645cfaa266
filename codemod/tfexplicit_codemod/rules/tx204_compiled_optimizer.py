"""TX204: the optimizer is the one given to `compile`, in a way that cannot be followed."""

from __future__ import annotations

from tfexplicit_codemod.leave import Leave
from tfexplicit_codemod.registry import Rule


def leave(receiver: str, why: str = "") -> Leave:
    reason = f"`{receiver}` is set by `compile`"
    return Leave(rule.code, f"{reason}, {why}" if why else reason)


rule = Rule(
    code="TX204",
    name="compiled-out-of-sight",
    summary="The optimizer is given to `compile` in a way that cannot be followed.",
    why=(
        "Keras gives this optimizer to the model in `compile`, perhaps from another file, on "
        "a TPU or for a model that is loaded whole. Make the state in `compile` where "
        "you know how the model is used, or keep `compile` and `fit` as they are. Keras does not "
        "compile a model that it loads, clones or copies if its class has a `compile` of its own; "
        "so a class that has none is left where the file has `save`, `ModelCheckpoint` without "
        "`save_weights_only=True`, `load_model`, `clone_model`, `deepcopy` or `pickle`. There give "
        "the class a `compile` as TX108 has it, and a `compile_from_config(self, config)` that "
        "calls `self.compile(**tf.keras.saving.deserialize_keras_object(config))`."
    ),
    before="""\
import tensorflow as tf

tf.keras.utils.set_random_seed(1)
x = tf.random.normal((32, 4))
y = tf.reduce_sum(x, axis=1, keepdims=True)


class Net(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = tf.keras.layers.Dense(1)

    def call(self, x):
        return self.dense(x)

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(self(x, training=True) - y))
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        return {"loss": loss}


model = Net()
model.dense.trainable = True
model.compile(optimizer="adam")
model.fit(x, y, epochs=2, verbose=2)
""",
    after="""\
import tensorflow as tf

tf.keras.utils.set_random_seed(1)
x = tf.random.normal((32, 4))
y = tf.reduce_sum(x, axis=1, keepdims=True)


class Net(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = tf.keras.layers.Dense(1)

    def call(self, x):
        return self.dense(x)

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(self(x, training=True) - y))
        grads = tape.gradient(loss, self.trainable_variables)
        # TODO(tfexplicit TX204): `self.optimizer` is set by `compile`, the model uses `trainable`
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        return {"loss": loss}


model = Net()
model.dense.trainable = True
model.compile(optimizer="adam")
model.fit(x, y, epochs=2, verbose=2)
""",
)
