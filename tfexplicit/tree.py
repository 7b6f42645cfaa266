"""A model seen as a tree: its leaves, each once, with paths, and the containers around them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from tfexplicit import containers, modules
from tfexplicit.arrays import expect_tensorflow, is_inexact, is_leaf, is_variable, raw
from tfexplicit.module_names import leaf_names
from tfexplicit.paths import join
from tfexplicit.unconverted import unconverted

# The path of a model that is one array without a name.
SINGLE_LEAF = "leaf"


@dataclass(eq=False)
class Leaf:
    """One trainable array; `index` is its place in `trainables` order."""

    value: Any
    index: int
    node: Node
    place: int

    @property
    def is_variable(self) -> bool:
        return is_variable(self.value)

    @cached_property
    def path(self) -> str:
        """The path of the first place where the leaf was found."""
        return join(self.node.path, self.node.names[self.place]) or SINGLE_LEAF


@dataclass(eq=False)
class Node:
    """A container with all its entries, or a module with the leaves that it lists itself."""

    value: Any
    parent: Node | None
    place: int
    entries: list[Node | Leaf | None] = field(default_factory=list)
    # True for a list that says itself what is trained.
    lists_leaves: bool = False

    @cached_property
    def is_module(self) -> bool:
        return containers.is_module(self.value)

    @cached_property
    def names(self) -> list[str]:
        if self.is_module:
            return leaf_names(self.value, [entry.value for entry in self.entries if entry])
        return [name for name, _ in containers.children(self.value)]

    @cached_property
    def path(self) -> str:
        segments: list[str] = []
        node = self
        while node.parent is not None:
            segments.append(node.parent.names[node.place])
            node = node.parent
        return "/".join(filter(None, reversed(segments)))


@dataclass(eq=False)
class Tree:
    """`root` is a node, or the leaf itself when the model is a single array."""

    root: Node | Leaf | None
    leaves: list[Leaf]
    # Children before parents, so that containers can be rebuilt from the inside.
    nodes: list[Node]

    @property
    def is_unbuilt(self) -> bool:
        """True while a Keras or Sonnet part has not made its variables."""
        return any(modules.is_unbuilt(node.value) for node in self.nodes if node.is_module)

    def paths(self) -> list[str]:
        return [leaf.path for leaf in self.leaves]


@unconverted
def parse(model: Any) -> Tree:
    """Walk `model`; every container once, so back-references and cycles end in linear time."""
    outermost = Node((model,), None, 0)
    leaves: dict[int, Leaf] = {}
    nodes: dict[int, Node] = {}
    finished: list[Node] = []
    root = _entry(model, outermost, 0, leaves, nodes)
    if isinstance(root, Leaf):
        outermost.__dict__["names"] = [_name_of_single_leaf(model)]
    waiting: list[tuple[Node, Iterator[tuple[int, Any]]]] = []
    if isinstance(root, Node):
        root.parent = None
        root.lists_leaves = _is_list_of_variables(root)
        waiting.append((root, _unvisited(root)))
    while waiting:
        node, remaining = waiting[-1]
        for place, child in remaining:
            known = id(child) in nodes
            entry = _entry(child, node, place, leaves, nodes)
            node.entries.append(entry)
            if isinstance(entry, Node) and not known:
                waiting.append((entry, _unvisited(entry)))
                break
        else:
            finished.append(node)
            waiting.pop()
    return Tree(root, list(leaves.values()), finished)


def _unvisited(node: Node) -> Iterator[tuple[int, Any]]:
    if node.is_module:
        return enumerate(_once(modules.listed_leaves(node.value)))
    return enumerate(child for _, child in containers.trained_children(node.value))


def _once(variables: Any) -> list[Any]:
    return list({id(raw(variable)): variable for variable in variables}.values())


def _entry(
    value: Any, node: Node, place: int, leaves: dict[int, Leaf], nodes: dict[int, Node]
) -> Node | Leaf | None:
    expect_tensorflow(value)
    # A module decides itself what it trains, so its list is not looked at again.
    if node.is_module or is_leaf(value) or (node.lists_leaves and is_inexact(value)):
        return leaves.setdefault(id(raw(value)), Leaf(value, len(leaves), node, place))
    if is_variable(value):
        return None
    if containers.is_module(value) or containers.is_container(value):
        return nodes.setdefault(id(value), Node(value, node, place))
    return None


def _is_list_of_variables(node: Node) -> bool:
    """True for a list that says itself what is to be trained, whatever `trainable` of a variable
    says: that is about what a tape watches by itself. A list that is an attribute of a module is
    one, too, whatever TensorFlow or Keras has wrapped it in."""
    if node.is_module or not containers.is_sequence(node.value):
        return False
    variables = node.value
    is_named = containers.is_namedtuple(variables)
    return bool(variables) and not is_named and all(map(is_variable, variables))


def _name_of_single_leaf(value: Any) -> str:
    name = getattr(value, "path", None) or (value.name if is_variable(value) else "")
    return str(name).split(":")[0] or SINGLE_LEAF
