"""The model again, with other values at its leaves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfexplicit import containers
from tfexplicit.arrays import is_variable
from tfexplicit.tree import Leaf, Node, Tree
from tfexplicit.unconverted import unconverted


@unconverted
def with_leaves(tree: Tree, values: list[Any], model: Any) -> Any:
    """Replace the leaves; a container none of whose leaves changed stays the same object.

    Ties and cycles are kept: what was one object is one object again.
    """
    changed = {leaf.index for leaf in tree.leaves if values[leaf.index] is not leaf.value}
    if not changed:
        return model
    if isinstance(tree.root, Leaf):
        return values[0]
    affected = _containing(tree, changed)
    return _rebuilt(
        tree,
        lambda leaf: values[leaf.index],
        lambda node: id(node) not in affected,
        lambda child: child,
    )


@unconverted
def mirror(tree: Tree, values: list[Any]) -> Any:
    """`values` arranged like the model: containers keep their type, modules become nested dicts.

    What is not trainable is None.
    """
    if isinstance(tree.root, Leaf):
        return values[0]
    return _rebuilt(tree, lambda leaf: values[leaf.index], lambda node: False, lambda child: None)


def _containing(tree: Tree, changed: set[int]) -> set[int]:
    """The containers from which a changed leaf can be reached."""
    affected: set[int] = set()
    grew = True
    while grew:
        # One pass is enough without cycles, since children come before their parents.
        grew = False
        for node in tree.nodes:
            if id(node) not in affected and any(
                id(entry) in affected if isinstance(entry, Node) else entry.index in changed
                for entry in node.entries
                if entry is not None
            ):
                affected.add(id(node))
                grew = True
    return affected


def _rebuilt(
    tree: Tree,
    value_of: Callable[[Leaf], Any],
    stays: Callable[[Node], bool],
    static: Callable[[Any], Any],
) -> Any:
    made: dict[int, Any] = {}
    for node in tree.nodes:
        if stays(node):
            made[id(node)] = node.value
        elif node.is_module:
            made[id(node)] = _module_values(node, value_of)
        elif containers.is_mutable(node.value):
            made[id(node)] = containers.shell_of(node.value)
    for node in tree.nodes:
        if stays(node) or node.is_module:
            continue
        originals = [child for _, child in containers.children(node.value)]
        values = [
            static(original)
            if entry is None
            else made[id(entry)]
            if isinstance(entry, Node)
            else value_of(entry)
            for entry, original in zip(node.entries, originals, strict=True)
        ]
        if containers.is_mutable(node.value):
            containers.fill(made[id(node)], values)
        else:
            made[id(node)] = containers.made_with(node.value, values)
    return made[id(tree.root)] if tree.root is not None else None


def _module_values(node: Node, value_of: Callable[[Leaf], Any]) -> dict[str, Any]:
    nested: dict[str, Any] = {}
    for name, leaf in zip(node.names, node.entries, strict=True):
        if not isinstance(leaf, Leaf):
            continue
        *parents, last = name.split("/")
        at = nested
        for parent in parents:
            at = at.setdefault(parent, {})
        at[last] = value_of(leaf)
    return nested


def has_replaced_leaves(tree: Tree) -> bool:
    """True if `update` has to give back a new model for some leaf."""
    return any(not is_variable(leaf.value) for leaf in tree.leaves)
