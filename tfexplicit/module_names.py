"""Readable paths for the leaves that a module lists: by layer and attribute names."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tfexplicit import containers, modules
from tfexplicit.arrays import is_variable, raw
from tfexplicit.layer_names import stable_names
from tfexplicit.paths import UniqueNames, join


@dataclass(frozen=True)
class _Place:
    """Something inside a module; its path is only put together for what needs one."""

    value: Any
    name: str
    parent: _Place | None

    @property
    def path(self) -> str:
        segments: list[str] = []
        place: _Place | None = self
        while place is not None:
            segments.append(place.name)
            place = place.parent
        return "/".join(filter(None, reversed(segments)))


def leaf_names(module: Any, leaves: list[Any]) -> list[str]:
    """One path per leaf, relative to `module`, each once.

    Layers of functional and sequential models go by layer name, everything else by attribute,
    key or index. What cannot be reached this way has the variable's own name.
    """
    found = _names_by_walking(module, {id(raw(leaf)) for leaf in leaves})
    names = (found.get(id(raw(leaf))) or own_name(leaf, whole=True) for leaf in leaves)
    return numbered_where_repeated(names)


def _names_by_walking(module: Any, wanted: set[int]) -> dict[int, str]:
    found: dict[int, str] = {}
    layers: list[_Place] = []
    visited: set[int] = set()
    waiting = [_Place(module, "", None)]
    while waiting:
        place = waiting.pop()
        node = place.value
        if is_variable(node):
            if id(raw(node)) in wanted:
                found.setdefault(id(raw(node)), place.path)
        elif id(node) not in visited and (
            containers.is_module(node) or containers.is_container(node)
        ):
            visited.add(id(node))
            if modules.is_layer(node):
                layers.append(place)
            below = [_Place(child, name, place) for name, child in _named_children(node)]
            waiting.extend(reversed(below))
    for place in reversed(layers):
        # Deepest first, so that what a layer holds under no attribute goes by that layer.
        if len(found) == len(wanted):
            break
        for variable in modules.listed_variables(place.value):
            if id(raw(variable)) in wanted:
                found.setdefault(id(raw(variable)), join(place.path, own_name(variable)))
    return found


def _named_children(node: Any) -> list[tuple[str, Any]]:
    if not containers.is_module(node):
        return containers.children(node)
    if _is_graph_model(node):
        return list(zip(stable_names(node.layers), node.layers, strict=True))
    attributes = modules.attributes(node)
    public = {name for name, _ in attributes if not name.startswith("_")}
    return [
        (name if short in public or not short else short, value)
        for name, short, value in ((name, name.lstrip("_"), value) for name, value in attributes)
    ]


def _is_graph_model(node: object) -> bool:
    return any(base.__name__ in ("Functional", "Sequential") for base in type(node).__mro__)


def own_name(variable: Any, whole: bool = False) -> str:
    """`kernel` for Keras' `dense/kernel` and tf_keras' `dense/kernel:0`."""
    name = str(getattr(variable, "path", None) or variable.name).split(":")[0]
    return name if whole else name.rsplit("/", 1)[-1]


def numbered_where_repeated(names: Iterable[str]) -> list[str]:
    """`kernel, kernel` becomes `kernel, kernel_1`."""
    unique = UniqueNames()
    return [unique.add(name) for name in names]
