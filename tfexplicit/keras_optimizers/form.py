"""How a rule is found again in a Keras optimizer; declared in the rule's file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class KerasForm:
    """The hyperparameters are attributes of the same names; slots are lists under these names.

    `with_weight_decay` names the Keras class that this one equals when `weight_decay` is set.
    An optimizer whose attribute differs from `requires` computes something else. `in_tf_keras` is
    False where the class of `tf_keras` rounds otherwise, or does not exist.
    """

    class_name: str
    slots: Mapping[str, str]
    with_weight_decay: str = ""
    requires: Mapping[str, Any] = field(default_factory=dict)
    in_tf_keras: bool = True
