"""Keras 3, as a custom training loop has it: what the others are compared with."""

from __future__ import annotations

from typing import Any

from keras_rules import optimizer_of
from tensorflow_step import TensorFlowContender, Update
from workloads import RULES


class KerasInFunction(TensorFlowContender):
    name = "Keras 3, tf.function"
    needs = ("tensorflow", "keras")
    rules = RULES
    kinds = ("dense", "sparse", "training")
    keras_variables = True

    def update_of(self, rule: str, variables: list[Any]) -> Update:
        import keras

        optimizer = optimizer_of(keras.optimizers, rule)
        optimizer.build(variables)
        return lambda gradients: optimizer.apply_gradients(zip(gradients, variables, strict=True))


contender = KerasInFunction
