"""`params`: the values of a model."""

from __future__ import annotations

from typing import Any

from tfexplicit.arguments import refuse_as_model
from tfexplicit.arrays import read
from tfexplicit.nested import nested
from tfexplicit.tree import parse
from tfexplicit.unconverted import unconverted
from tfexplicit.values import values_of


@unconverted
def params(model: Any, trainable: bool | None = None) -> dict[str, Any]:
    """The values of `model` as tensors in a plain nested dict by path.

    The leaves go by the paths of `trainables(model, path=True)`. The rest are the variables that
    are not trained: statistics of `BatchNormalization`, seed states of `Dropout`, frozen layers.
    A variable that is found at several places is there once, at the first. Later updates of the
    model do not change the tensors; `assign` writes them back.

    Args:
        model: a model as `setup` takes it.
        trainable: True for the leaves only, which is what `updated` returns for a Keras model or
            `tf.Module`; False for the rest.

    Raises:
        TypeError: a state or a rule in place of the model.
    """
    refuse_as_model("params", model)
    return nested(
        (value.path, read(value.value))
        for value in values_of(parse(model))
        if trainable is None or value.trainable is trainable
    )
