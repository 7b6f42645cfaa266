"""`trainables`: the leaves of a model."""

from __future__ import annotations

from typing import Any, Literal, overload

from tfexplicit.arguments import refuse_as_model
from tfexplicit.tree import parse
from tfexplicit.unconverted import unconverted


@overload
def trainables(model: Any, path: Literal[False] = False) -> list[Any]: ...


@overload
def trainables(model: Any, path: Literal[True]) -> list[tuple[str, Any]]: ...


@unconverted
def trainables(model: Any, path: bool = False) -> list[Any]:
    """The leaves of `model`, each once; with `path=True`, `(path, leaf)` pairs.

    What has `trainable_variables` (Keras models and layers, `tf.Module`) gives exactly those, in
    that order. In containers, leaves are trainable variables and arrays of float or complex dtype.

    Raises:
        TypeError: a state or a rule in place of the model.
    """
    refuse_as_model("trainables", model)
    leaves = parse(model).leaves
    return [(leaf.path, leaf.value) for leaf in leaves] if path else [leaf.value for leaf in leaves]
