"""What a program may set on a Keras optimizer after its state is made: the learning rate only."""

from __future__ import annotations

import ast

FOLLOWED = ("learning_rate", "lr")
# Keras refuses it once the optimizer is built, which `setup` does.
EXCLUDES = "exclude_from_weight_decay"


def sets_hyperparameter(attribute: ast.Attribute) -> bool:
    """True for what sets, on an optimizer, a value that `setup` has read by then."""
    is_set = isinstance(attribute.ctx, ast.Store)
    return (is_set and attribute.attr not in FOLLOWED) or attribute.attr == EXCLUDES
