"""Which import paths are Keras optimizers, and which belong to something else altogether."""

from __future__ import annotations

import re
from typing import Literal

Family = Literal["keras", "loss_scale", "foreign"]

# Whatever the spelling, the classes are those of Keras; `tfexplicit.setup` takes all of them.
_SAME_AS_KERAS = (
    ("tensorflow.compat.v2.", "tensorflow."),
    ("tensorflow.python.keras.", "keras."),
    ("tensorflow.keras.", "keras."),
    ("tensorflow.optimizers.", "keras.optimizers."),
    ("tensorflow.compat.v1.keras.", "keras."),
    ("tf_keras.", "keras."),
    ("keras.api.", "keras."),
    ("keras.src.", "keras."),
)
_OPTIMIZER = re.compile(
    r"keras\.optimizers\.(legacy\.|experimental\.|[a-z_]+\.)?[A-Z]\w*$"
    r"|tensorflow_addons\.optimizers\.([a-z_]+\.)?[A-Z]\w*$"
)
# What these give may be one that scales the loss, like any other.
_FROM_CONFIG = ("keras.optimizers.get", "keras.optimizers.deserialize")
_TENSORFLOW_1_OPTIMIZER = re.compile(r"tensorflow\.(compat\.v1\.)?train\.\w*Optimizer$")
_SCHEDULE = re.compile(r"keras\.optimizers\.schedules\.|LearningRateSchedule$")
_FOREIGN_ROOTS = frozenset(
    {
        *("optax", "flax", "jax", "haiku", "equinox", "optimistix", "torch", "paddle", "mxnet"),
        *("scipy", "gpflow", "sonnet", "tensorflow_probability"),
    }
)


def normalised(path: str) -> str:
    """The path as `keras.…` for every spelling of Keras, also re-exported by another package."""
    for prefix, plain in _SAME_AS_KERAS:
        if path.startswith(prefix):
            path = plain + path[len(prefix) :]
    reexport = re.search(r"\.(tf_keras|keras)\.optimizers\.", path)
    return "keras" + path[reexport.end(1) :] if reexport else path


def family(path: str) -> Family | None:
    """What calling this import path gives: a Keras optimizer, a wrapper, something foreign."""
    path = normalised(path)
    if path in _FROM_CONFIG or (path.endswith(".LossScaleOptimizer") and "keras" in path):
        return "loss_scale"
    if _SCHEDULE.search(path):
        return None
    if _OPTIMIZER.match(path):
        return "keras"
    root = path.split(".")[0]
    if root in _FOREIGN_ROOTS or path.startswith(("tensorflow.train.", "tensorflow.compat.v1.")):
        return "foreign"
    return None


def is_keras_optimizer_base(path: str) -> bool:
    """True for a class to derive a custom optimizer from."""
    return family(path) in ("keras", "loss_scale")


def is_tensorflow_1_optimizer(path: str) -> bool:
    return bool(_TENSORFLOW_1_OPTIMIZER.match(path))


def is_keras_model_base(path: str) -> bool:
    """True for the Keras classes that own `compile`, and with it the attribute `optimizer`."""
    path = normalised(path)
    return path.startswith("keras.") and path.rsplit(".", 1)[-1] in (
        "Model",
        "Sequential",
        "Functional",
    )
