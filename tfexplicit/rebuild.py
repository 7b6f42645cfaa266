"""The model again, with other values at its leaves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import Any

from tfexplicit.arrays import is_mutable
from tfexplicit.containers import Kind, children, known_kind
from tfexplicit.nested import Nested, nested
from tfexplicit.tree import Leaf, Node, Tree
from tfexplicit.unconverted import unconverted


@unconverted
def with_leaves(tree: Tree, values: list[Any], model: Any, in_place: bool = False) -> Any:
    """Replace the leaves; a container none of whose leaves changed stays the same object.

    Ties and cycles are kept: what was one object is one object again. `in_place` writes to a
    `Ref`, where otherwise a new one is made.
    """
    changed = {leaf.index for leaf in tree.leaves if values[leaf.index] is not leaf.value}
    if not changed:
        return model
    if isinstance(tree.root, Leaf):
        return values[0]
    affected = _containing(tree, changed, in_place)
    made = _made_again(
        [node for node in tree.nodes if id(node) in affected],
        _Arrangement(values, lambda original: original, known_kind, in_place),
    )
    return made.get(id(tree.root), model)


@unconverted
def mirror(tree: Tree, values: list[Any]) -> Any:
    """`values` arranged like the model: containers keep their type, modules become nested dicts.

    So do registered nodes. What is not trainable is None.
    """
    if not isinstance(tree.root, Node):
        return values[0] if tree.root else None
    made = _made_again(
        tree.nodes, _Arrangement(values, lambda original: None, _kind_to_mirror, in_place=False)
    )
    return made[id(tree.root)]


def has_replaced_leaves(tree: Tree) -> bool:
    """True if `update` has to give back a new model for some leaf."""
    replaced = {leaf.index for leaf in tree.leaves if not is_mutable(leaf.value)}
    if not isinstance(tree.root, Node):
        return bool(replaced)
    affected = _containing(tree, replaced, in_place=True)
    return id(tree.root) in affected and not _is_written(tree.root)


def _containing(tree: Tree, changed: set[int], in_place: bool) -> set[int]:
    """The nodes from which a changed leaf can be reached, but not through a `Ref` written to."""
    parents: dict[int, list[Node]] = {}
    waiting: list[Node] = []
    for node in tree.nodes:
        for entry in node.entries:
            if isinstance(entry, Node):
                parents.setdefault(id(entry), []).append(node)
        if any(isinstance(entry, Leaf) and entry.index in changed for entry in node.entries):
            waiting.append(node)
    affected: set[int] = set()
    while waiting:
        node = waiting.pop()
        if id(node) in affected:
            continue
        affected.add(id(node))
        if not (in_place and _is_written(node)):
            waiting.extend(parents.get(id(node), ()))
    return affected


@dataclass(frozen=True)
class _Arrangement:
    """What goes where: leaf values by index, and what becomes of that which is no leaf."""

    values: list[Any]
    static: Callable[[Any], Any]
    kind_for: Callable[[Any], Kind]
    in_place: bool

    def entries(self, node: Node, made: dict[int, Any]) -> list[Any]:
        originals = [child for _, child in children(node.value)]
        return [
            self._entry(entry, original, made)
            for entry, original in zip(node.entries, originals, strict=True)
        ]

    def _entry(self, entry: Node | Leaf | None, original: Any, made: dict[int, Any]) -> Any:
        if entry is None:
            return self.static(original)
        if isinstance(entry, Leaf):
            return self.values[entry.index]
        return made.get(id(entry), entry.value)


def _made_again(nodes: list[Node], arrangement: _Arrangement) -> dict[int, Any]:
    """Shells first, then what is made in one go, and last the shells are filled."""
    made: dict[int, Any] = {}
    in_one_go: list[Node] = []
    later: list[tuple[Node, Callable[[Any, list[Any]], None]]] = []
    for node in nodes:
        if node.is_module:
            made[id(node)] = _module_values(node, arrangement.values)
            continue
        kind = arrangement.kind_for(node.value)
        if arrangement.in_place and kind.write is not None:
            made[id(node)] = node.value
            later.append((node, kind.write))
        elif kind.fill is not None:
            made[id(node)] = kind.shell(node.value)
            later.append((node, kind.fill))
        else:
            in_one_go.append(node)
    for node in _inner_first(in_one_go):
        made_with = arrangement.kind_for(node.value).made_with
        assert made_with is not None
        made[id(node)] = made_with(node.value, arrangement.entries(node, made))
    for node, fill in later:
        fill(made[id(node)], arrangement.entries(node, made))
    return made


def _inner_first(nodes: list[Node]) -> list[Node]:
    by_id = {id(node): node for node in nodes}
    graph = {
        id(node): [id(entry) for entry in node.entries if id(entry) in by_id] for node in nodes
    }
    try:
        return [by_id[key] for key in TopologicalSorter(graph).static_order()]
    except CycleError as error:
        kinds = sorted({type(by_id[key].value).__name__ for key in error.args[1]})
        raise TypeError(
            f"a cycle through nothing but {', '.join(kinds)} cannot be made again, since each "
            "would have to exist before the other. Let one of them be a dataclass, a list or a "
            "dict, or use variables for its leaves, which update in place."
        ) from None


def _kind_to_mirror(container: Any) -> Kind:
    kind = known_kind(container)
    return kind.mirror or kind


def _is_written(node: Node) -> bool:
    return not node.is_module and known_kind(node.value).write is not None


def _module_values(node: Node, values: list[Any]) -> Nested:
    return nested(
        (name, values[leaf.index])
        for name, leaf in zip(node.names, node.entries, strict=True)
        if isinstance(leaf, Leaf)
    )
