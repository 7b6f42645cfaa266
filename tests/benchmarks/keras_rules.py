"""The rules under the names of Keras, which `tf_keras` and its `legacy` share."""

from __future__ import annotations

from typing import Any

from workloads import LEARNING_RATE


def optimizer_of(optimizers: Any, rule: str) -> Any:
    """`optimizers` is the module that holds the classes."""
    if rule == "AdamW, global norm":
        return optimizers.AdamW(LEARNING_RATE, weight_decay=0.01, global_clipnorm=1.0)
    if rule == "SGD momentum":
        return optimizers.SGD(LEARNING_RATE, momentum=0.9)
    return getattr(optimizers, rule)(LEARNING_RATE)
