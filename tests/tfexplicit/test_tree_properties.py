"""Any tree of containers, with ties, cycles and what is no leaf: round trips keep all of it."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Callable
from types import MappingProxyType
from typing import Any, NamedTuple

import attrs
import numpy as np
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

import tfexplicit as tx


class Named(NamedTuple):
    first: Any
    second: Any


@dataclasses.dataclass
class Data:
    first: Any
    second: Any


@attrs.frozen
class Attrs:
    first: Any
    second: Any


class Own:
    def __init__(self, items: list[Any]) -> None:
        self.items = items


tx.register_node(
    Own,
    lambda own: [(f"item{number}", item) for number, item in enumerate(own.items)],
    lambda own, new: Own(list(new.values())),
)

STATIC = (None, 1, 2.5, "text", True, np.arange(2))
MAKERS: list[Callable[[list[Any]], Any]] = [
    list,
    tuple,
    Own,
    lambda items: {f"k{number}": item for number, item in enumerate(items)},
    lambda items: collections.OrderedDict((f"z{n}", item) for n, item in enumerate(items)),
    lambda items: MappingProxyType({f"p{number}": item for number, item in enumerate(items)}),
    lambda items: Named(*[*items, None, None][:2]),
    lambda items: Data(*[*items, None, None][:2]),
    lambda items: Attrs(*[*items, None, None][:2]),
    lambda items: tx.Ref(items[0] if items else None),
]


def leaf_of(kind: int, number: int) -> Any:
    value = np.float32([number, number + 0.5])
    return [tf.constant, tf.Variable, np.array][kind](value)


@st.composite
def models(draw: Any, only_tensors: bool = False) -> Any:
    """Built from the inside: each container holds what was made before it, some of it twice."""
    kinds = st.just(0) if only_tensors else st.integers(0, 2)
    parts: list[Any] = [
        leaf_of(kind, number)
        for number, kind in enumerate(draw(st.lists(kinds, min_size=1, max_size=5)))
    ]
    parts += draw(st.lists(st.sampled_from(STATIC), max_size=3))
    lists: list[list[Any]] = []
    for maker in draw(st.lists(st.sampled_from(MAKERS), max_size=8)):
        chosen = draw(st.lists(st.integers(0, len(parts) - 1), max_size=4))
        part = maker([parts[number] for number in chosen])
        parts.append(part)
        if type(part) is list:
            lists.append(part)
    root = draw(st.sampled_from(MAKERS))([parts[0], *parts[-3:]])
    for inner in lists:
        if draw(st.booleans()):
            # A back-reference: from the inside of the model to the whole of it.
            inner.append(root)
    return root


def outline(value: Any, replaced: dict[int, Any]) -> Any:
    """The model as nested tuples: types, values, and a number for whatever was seen before.

    `replaced` gives, by identity, what stands for a leaf.
    """
    seen: dict[int, int] = {}

    def look(value: Any) -> Any:
        if id(value) in replaced:
            return replaced[id(value)]
        entries = children(value)
        if entries is None:
            return ("static", type(value).__name__, str(value))
        if value == () and type(value) is tuple:
            return "empty tuple"
        if id(value) in seen:
            return ("again", seen[id(value)])
        seen[id(value)] = len(seen)
        return (type(value).__name__, [look(entry) for entry in entries])

    return look(value)


def children(value: Any) -> list[Any] | None:
    if isinstance(value, collections.abc.Mapping):
        return list(value.values())
    if isinstance(value, list | tuple):
        return list(value)
    if isinstance(value, Own):
        return value.items
    if isinstance(value, tx.Ref):
        return [value.value]
    if isinstance(value, Data | Attrs):
        return [value.first, value.second]
    return None


def numbers_of(leaves: list[Any]) -> dict[int, Any]:
    return {id(leaf): ("leaf", number) for number, leaf in enumerate(leaves)}


@settings(max_examples=150, deadline=None)
@given(models())
def test_leaves_are_unique_and_so_are_their_paths(model: Any) -> None:
    pairs = tx.trainables(model, path=True)
    assert len({id(leaf) for _, leaf in pairs}) == len(pairs)
    assert len({path for path, _ in pairs}) == len(pairs)
    assert [id(leaf) for leaf in tx.trainables(model)] == [id(leaf) for _, leaf in pairs]


@settings(max_examples=40, deadline=None)
@given(models())
def test_a_pure_step_gives_a_model_of_the_same_make(model: Any) -> None:
    leaves = tx.trainables(model)
    before = outline(model, numbers_of(leaves))
    state = tx.setup(tx.SGD(0.5), model)
    _, new = tx.updated(state, model, [tf.ones(2)] * len(leaves))
    assert outline(model, numbers_of(leaves)) == before
    new_leaves = tx.trainables(new)
    assert outline(new, numbers_of(new_leaves)) == before
    for old, stepped in zip(leaves, new_leaves, strict=True):
        np.testing.assert_allclose(stepped, np.asarray(old) - 0.5)


@settings(max_examples=40, deadline=None)
@given(models())
def test_a_step_in_place_gives_what_the_pure_step_gives(model: Any) -> None:
    leaves = tx.trainables(model)
    before = outline(model, numbers_of(leaves))
    grads = [None if number == 1 else tf.ones(2) for number, _ in enumerate(leaves)]
    state = tx.setup(tx.SGD(0.5), model)
    _, pure = tx.updated(state, model, grads)
    expected = [np.asarray(leaf) for leaf in tx.trainables(pure)]
    _, new = tx.update(state, model, grads)
    new_leaves = tx.trainables(new)
    assert outline(new, numbers_of(new_leaves)) == before
    assert [type(leaf) for leaf in new_leaves] == [type(leaf) for leaf in leaves]
    for leaf, value in zip(new_leaves, expected, strict=True):
        np.testing.assert_array_equal(leaf, value)


@settings(max_examples=40, deadline=None)
@given(models(only_tensors=True))
def test_gradients_that_mirror_the_model_step_as_a_flat_list_does(model: Any) -> None:
    leaves = tx.trainables(model)

    def loss(model: Any) -> Any:
        inside = tx.trainables(model)
        return tf.add_n([tf.reduce_sum(leaf * (n + 1.0)) for n, leaf in enumerate(inside)])

    grads = tx.grad(loss)(model)
    state = tx.setup(tx.SGD(1.0), model)
    _, from_tree = tx.updated(state, model, grads)
    _, from_list = tx.updated(state, model, [tf.fill([2], n + 1.0) for n in range(len(leaves))])
    for ours, theirs in zip(tx.trainables(from_tree), tx.trainables(from_list), strict=True):
        np.testing.assert_array_equal(ours, theirs)
