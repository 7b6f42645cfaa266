"""Deep, wide and circular models: every node is looked at a few times, whatever refers to it."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import tfexplicit as tx


def test_shared_containers_are_walked_once() -> None:
    model: Any = [tf.Variable(1.0)]
    for _ in range(60):
        # 2 ** 60 places, 61 containers.
        model = [model, model]
    assert len(tx.trainables(model)) == 1


def test_deep_models_do_not_exhaust_the_stack() -> None:
    model: Any = tf.constant(1.0)
    for _ in range(10_000):
        model = [model]
    state = tx.setup(tx.SGD(1.0), model)
    _, new = tx.update(state, model, [tf.constant(0.25)])
    for _ in range(10_000):
        new = new[0]
    assert float(new) == 0.75


COUNT = 100_000


@pytest.mark.slow
def test_parent_pointers_in_containers_take_a_few_looks_per_node() -> None:
    looks = 0

    class Person:
        def __init__(self, parent: Any) -> None:
            self.parent = parent
            self.kids: Any = ()
            self.weight: Any = None

    def children(person: Person) -> dict[str, Any]:
        nonlocal looks
        looks += 1
        return vars(person)

    tx.register_node(Person, children, _refuse_to_rebuild)
    root = Person(None)
    root.kids = [Person(root) for _ in range(COUNT)]
    root.kids[-1].weight = tf.Variable([1.0])
    state = tx.setup(tx.SGD(0.5), root)
    assert state.paths == [f"kids/{COUNT - 1}/weight"]
    tx.update(state, root, [tf.ones(1)])
    assert float(root.kids[-1].weight[0]) == 0.5
    # setup and update walk the model once each, and names are read on the way to the leaf.
    assert looks <= 3 * COUNT


def _refuse_to_rebuild(value: Any, new: dict[str, Any]) -> Any:
    raise AssertionError("nothing to rebuild")


def test_a_list_linked_both_ways_is_rebuilt_link_by_link() -> None:
    links: list[dict[str, Any]] = [{"value": None} for _ in range(COUNT // 5)]
    for before, after in itertools.pairwise(links):
        before["next"], after["previous"] = after, before
    # Every link reaches the leaf, those behind it only by going back.
    links[0]["value"] = tf.constant([1.0])
    _, new = tx.update(tx.setup(tx.SGD(0.5), links), links, [tf.ones(1)])
    assert float(new[0]["value"][0]) == 0.5
    assert new[-1]["previous"]["next"] is new[-1]
    assert all(link is not old for link, old in zip(new, links, strict=True))


class Child(tf.Module):
    looks = 0

    def __init__(self, parent: Any) -> None:
        # As `tf.Module` leaves it, without its slow tracking of attributes.
        vars(self).update(_name="child", parent=parent)

    def __getattribute__(self, name: str) -> Any:
        if name == "__dict__":
            Child.looks += 1
        return super().__getattribute__(name)


def test_parent_pointers_in_modules_take_a_few_looks_per_node() -> None:
    root = Child(None)
    vars(root)["children"] = [Child(root) for _ in range(COUNT)]
    vars(root.children[-1])["weight"] = tf.Variable([1.0])
    Child.looks = 0
    assert [path for path, _ in tx.trainables(root, path=True)] == [f"children/{COUNT - 1}/weight"]
    # TensorFlow's listing, the search for Keras layers, and the names.
    assert Child.looks <= 3 * (COUNT + 1)


def test_a_wide_model_has_one_name_per_leaf() -> None:
    model = {f"w{number}": np.zeros(1) for number in range(20_000)}
    paths = [path for path, _ in tx.trainables(model, path=True)]
    assert paths == list(model)
