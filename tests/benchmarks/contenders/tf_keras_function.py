"""Keras 2 (`tf_keras`) in a `tf.function`."""

from __future__ import annotations

from typing import Any

from keras_rules import optimizer_of
from tensorflow_step import TensorFlowContender, Update
from workloads import RULES


class TfKeras(TensorFlowContender):
    name = "tf_keras, tf.function"
    needs = ("tensorflow", "keras", "tf_keras")
    rules = RULES
    kinds = ("dense", "sparse")

    def update_of(self, rule: str, variables: list[Any]) -> Update:
        import tf_keras

        optimizer = optimizer_of(tf_keras.optimizers, rule)
        optimizer.build(variables)
        return lambda gradients: optimizer.apply_gradients(zip(gradients, variables, strict=True))


contender = TfKeras
