"""What a Keras optimizer that has trained keeps for a leaf, by the names of our slots."""

from __future__ import annotations

from typing import Any

from tfexplicit.keras_optimizers.building import index_of
from tfexplicit.keras_optimizers.known import forms

# What the base class keeps: the average of `use_ema`, the sum of `gradient_accumulation_steps`.
_OF_EVERY_CLASS = {
    "average": "_model_variables_moving_average",
    "gradient": "_accumulated_gradients",
}


def has_known_slots(optimizer: Any) -> bool:
    return type(optimizer).__name__ in forms()


def kept_for(optimizer: Any, variable: Any) -> dict[str, Any] | None:
    """Slot name to variable; None if the optimizer does not know this variable."""
    index = index_of(optimizer, variable)
    if index is None:
        return None
    _, form = forms()[type(optimizer).__name__]
    found = {}
    for name, attribute in {**form.slots, **_OF_EVERY_CLASS}.items():
        kept = getattr(optimizer, attribute, None) or []
        if index < len(kept) and kept[index] is not None:
            found[name] = kept[index]
    return found
