"""Sonnet's optimizers in a `tf.function`."""

from __future__ import annotations

from typing import Any

from tensorflow_step import TensorFlowContender, Update
from workloads import LEARNING_RATE


class Sonnet(TensorFlowContender):
    name = "Sonnet, tf.function"
    needs = ("tensorflow", "keras", "sonnet")
    rules = ("Adam", "SGD momentum", "RMSprop")
    kinds = ("dense", "sparse")

    def update_of(self, rule: str, variables: list[Any]) -> Update:
        import sonnet as snt

        if rule == "SGD momentum":
            optimizer = snt.optimizers.Momentum(LEARNING_RATE, momentum=0.9)
        else:
            optimizer = getattr(snt.optimizers, {"RMSprop": "RMSProp"}.get(rule, rule))(
                LEARNING_RATE
            )
        return lambda gradients: optimizer.apply(gradients, variables)


contender = Sonnet
