"""Readable paths for the leaves that a module lists: by layer and attribute names."""

from __future__ import annotations

from typing import Any

from tfexplicit import containers
from tfexplicit.arrays import is_variable, raw
from tfexplicit.paths import join

# Where Keras and TensorFlow keep what is reachable by a better name.
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


def leaf_names(module: Any, leaves: list[Any]) -> list[str]:
    """One path per leaf, relative to `module`, each once.

    Layers of functional and sequential models go by layer name, everything else by attribute,
    key or index. What cannot be reached this way has the variable's own name.
    """
    found = _names_by_walking(module)
    names = (found.get(id(raw(leaf))) or own_name(leaf, whole=True) for leaf in leaves)
    return numbered_where_repeated(names)


def _names_by_walking(module: Any) -> dict[int, str]:
    found: dict[int, str] = {}
    places: list[tuple[str, Any]] = []
    visited: set[int] = set()
    waiting: list[tuple[str, Any]] = [("", module)]
    while waiting:
        path, node = waiting.pop()
        if is_variable(node):
            found.setdefault(id(raw(node)), path)
        elif id(node) not in visited and (
            containers.is_module(node) or containers.is_container(node)
        ):
            visited.add(id(node))
            places.append((path, node))
            below = [(join(path, name), child) for name, child in _named_children(node)]
            waiting.extend(reversed(below))
    for path, node in reversed(places):
        # Deepest first, so that what a layer holds under no attribute goes by that layer.
        for variable in listed_variables(node) if _is_layer(node) else ():
            found.setdefault(id(raw(variable)), join(path, own_name(variable)))
    return found


def _named_children(node: Any) -> list[tuple[str, Any]]:
    if not containers.is_module(node):
        return containers.children(node)
    if _is_graph_model(node):
        return [(layer.name, layer) for layer in node.layers]
    attributes = [
        (name, value)
        for name, value in vars(node).items()
        if name not in _BOOKKEEPING and not name.startswith("_self_")
    ]
    # Public names first: a private alias of the same thing must not name it.
    attributes.sort(key=lambda item: item[0].startswith("_"))
    public = {name for name, _ in attributes if not name.startswith("_")}
    return [
        (name if short in public or not short else short, value)
        for name, short, value in ((name, name.lstrip("_"), value) for name, value in attributes)
    ]


def _is_graph_model(node: object) -> bool:
    return any(base.__name__ in ("Functional", "Sequential") for base in type(node).__mro__)


def listed_variables(module: Any) -> list[Any]:
    """Every variable that the module lists; what it does not train is among them."""
    if containers.is_unbuilt(module) or not hasattr(module, "variables"):
        return containers.listed_leaves(module)
    return list(module.variables)


def _is_layer(node: object) -> bool:
    return hasattr(node, "add_weight")


def own_name(variable: Any, whole: bool = False) -> str:
    """`kernel` for Keras' `dense/kernel` and tf_keras' `dense/kernel:0`."""
    name = str(getattr(variable, "path", None) or variable.name).split(":")[0]
    return name if whole else name.rsplit("/", 1)[-1]


def numbered_where_repeated(names: Any) -> list[str]:
    """`kernel, kernel` becomes `kernel, kernel_1`."""
    taken: set[str] = set()
    result = []
    for name in names:
        free, number = name, 0
        while free in taken:
            number += 1
            free = f"{name}_{number}"
        taken.add(free)
        result.append(free)
    return result
