"""`assign`: write values back into a model."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexplicit.arrays import is_variable, raw
from tfexplicit.rebuild import with_leaves
from tfexplicit.tree import parse
from tfexplicit.unconverted import unconverted
from tfexplicit.values import given_values, values_of
from tfexplicit.writing import is_known


@unconverted
def assign(model: Any, params: Any) -> Any:
    """Write `params` into `model`; the model afterwards.

    A variable is assigned in place. A leaf that is a tensor or ndarray is replaced in the model
    that is returned: if the model has any, use the return value. If anything is wrong with
    `params`, nothing is written.

    Args:
        model: a model as `setup` takes it.
        params: all its values as `tx.params(model)` gives them, or only the trainable ones (as
            from `updated`), or only the others (as the updates from `functional_call`); or a
            tuple of such dicts. Tensors, ndarrays or variables, of the shape and dtype that the
            model has.

    Raises:
        TypeError: no dict, or a value of another dtype.
        ValueError: a path that the model does not have, some missing, or another shape.
    """
    tree = parse(model)
    values = values_of(tree)
    new = given_values("assign", values, params)
    leaves = [leaf.value for leaf in tree.leaves]
    for number, tensor in new.items():
        old = values[number].value
        if is_variable(old):
            raw(old).assign(tensor, read_value=False)
        elif isinstance(old, np.ndarray) and is_known(tensor):
            leaves[number] = tensor.numpy()
        else:
            leaves[number] = tensor
    return with_leaves(tree, leaves, model)
