"""Names of the layers of a functional or sequential model that do not depend on other models."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from tfexplicit.paths import UniqueNames


def stable_names(layers: Sequence[Any]) -> list[str]:
    """One name per layer, each once.

    Keras numbers the layers without a name over the whole process: `dense_7` is the name of the
    first layer of the fourth such model. Here they are numbered within their model, by order of
    appearance: `dense`, `dense_1`. Any other name stays. Keras does not keep whether it made a
    name, so a name counts as its own if it is the class in snake case, with or without a number.
    """
    pairs = list(zip(layers, map(_base_of_automatic_name, layers), strict=True))
    unique = UniqueNames(layer.name for layer, base in pairs if base is None)
    return [layer.name if base is None else unique.add(base) for layer, base in pairs]


def _base_of_automatic_name(layer: Any) -> str | None:
    """`dense` for a `Dense` called `dense` or `dense_7`; None for a name that a user chose."""
    unnumbered = re.sub(r"_\d+$", "", layer.name)
    kinds = {_plain(type(layer).__name__)}
    if type(layer).__name__ == "Functional":
        # What tf_keras calls a functional model.
        kinds.add("model")
    for base in (layer.name, unnumbered):
        if _plain(base) in kinds:
            return str(base)
    return None


def _plain(name: str) -> str:
    return name.replace("_", "").lower()
