"""The legacy optimizers of `tf_keras`, in a `tf.function`."""

from __future__ import annotations

from typing import Any

from keras_rules import optimizer_of
from tensorflow_step import TensorFlowContender, Update


class Legacy(TensorFlowContender):
    name = "tf_keras legacy, tf.function"
    needs = ("tensorflow", "keras", "tf_keras")
    rules = ("Adam", "SGD momentum", "RMSprop")
    kinds = ("dense", "sparse")

    def update_of(self, rule: str, variables: list[Any]) -> Update:
        import tf_keras

        optimizer = optimizer_of(tf_keras.optimizers.legacy, rule)
        return lambda gradients: optimizer.apply_gradients(zip(gradients, variables, strict=True))


contender = Legacy
