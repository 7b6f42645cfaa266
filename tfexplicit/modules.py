"""What a module trains, and the attributes that its parts are found by."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from tfexplicit import containers
from tfexplicit.arrays import is_leaf, is_variable

# Where Keras keeps what is reachable by a better name.
_BOOKKEEPING = frozenset(
    (
        "_layers",
        "_metrics",
        "_trainable_variables",
        "_non_trainable_variables",
        "_trainable_weights",
        "_non_trainable_weights",
        "_functional",
        "_obj_reference_counts_dict",
        "_seed_generators",
    )
)


def listed_leaves(module: Any) -> list[Any]:
    """What the module trains, as it lists it, then what TensorFlow does not see of Keras 3."""
    own = [] if _refuses_to_list(module) else list(module.trainable_variables)
    for part in _keras_parts(module):
        own += [part] if is_variable(part) else list(part.trainable_variables)
    return own


def listed_variables(module: Any) -> list[Any]:
    """Every variable of the module; what it does not train is among them."""
    if _refuses_to_list(module) or not hasattr(module, "variables"):
        return listed_leaves(module)
    own = list(module.variables)
    for part in _keras_parts(module):
        own += [part] if is_variable(part) else list(part.variables)
    return own


def is_unbuilt(module: Any) -> bool:
    """True while a Keras or Sonnet part has not made its variables."""
    return (
        getattr(module, "built", True) is False
        or _refuses_to_list(module)
        or any(getattr(part, "built", True) is False for part in _keras_parts(module))
    )


def is_layer(value: object) -> bool:
    """A layer or model of Keras 3 or tf_keras."""
    return hasattr(value, "add_weight")


def attributes(module: Any) -> list[tuple[str, Any]]:
    """Names and values, public ones first, without what is mere bookkeeping."""
    ignored: frozenset[str] = getattr(type(module), "_TF_MODULE_IGNORED_PROPERTIES", frozenset())
    if is_layer(module):
        ignored = _BOOKKEEPING | ignored
    found = [
        (name, value)
        for name, value in vars(module).items()
        if name not in ignored and not name.startswith("_self_")
    ]
    # A private alias of the same thing must not name it.
    return sorted(found, key=lambda item: item[0].startswith("_"))


def _refuses_to_list(module: Any) -> bool:
    """tf_keras and Sonnet raise when a module that has no variables yet is asked for them."""
    if getattr(module, "built", True) is not False and not _is_sonnet(module):
        return False
    try:
        module.trainable_variables  # noqa: B018
    except ValueError:
        return True
    return False


def _is_sonnet(module: object) -> bool:
    return any(base.__module__.startswith("sonnet.") for base in type(module).__mro__)


def _keras_parts(module: Any) -> list[Any]:
    """The layers and trainable variables of Keras 3 below a module that TensorFlow lists.

    TensorFlow looks for `tf.Variable`s alone, and those of Keras 3 are none.
    """
    if not _is_listed_by_tensorflow(module):
        return []
    found: list[Any] = []
    visited: set[int] = set()
    waiting = [module]
    while waiting:
        node = waiting.pop()
        if is_variable(node):
            if not isinstance(node, tf.Variable) and is_leaf(node):
                found.append(node)
        elif id(node) in visited or is_layer(node):
            if is_layer(node) and not isinstance(node, tf.Module):
                found.append(node)
        elif isinstance(node, tf.Module):
            visited.add(id(node))
            waiting += [value for _, value in reversed(attributes(node))]
        elif containers.is_container(node):
            visited.add(id(node))
            waiting += [child for _, child in reversed(containers.trained_children(node))]
    return found


def _is_listed_by_tensorflow(module: Any) -> bool:
    """False for a class with a `trainable_variables` of its own, which has the last word."""
    if not isinstance(module, tf.Module):
        return False
    owner = next(base for base in type(module).__mro__ if "trainable_variables" in vars(base))
    return owner is tf.Module or owner.__module__.startswith("sonnet.")
