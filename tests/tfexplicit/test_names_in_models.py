"""Models whose keys or attributes read alike, and containers that cannot be written to."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import tfexplicit as tx


def test_variables_with_equal_paths_are_told_apart() -> None:
    model = {"a/b": tf.Variable(1.0), "a": {"b": tf.Variable(1.0)}}
    state = tx.setup(tx.SGD(1.0, momentum=0.5), model)
    for _ in range(2):
        tx.update(state, model, [tf.constant(1.0), tf.constant(2.0)])
    assert state.paths == ["a/b", "a/b_1"]
    assert [float(v) for v in tx.trainables(model)] == [-1.5, -4.0]


@pytest.mark.parametrize(
    "model",
    [{"a/b": tf.ones(1), "a": {"b": tf.ones(1)}}, {1: tf.ones(1), "1": tf.ones(1)}],
    ids=["nested", "number"],
)
def test_arrays_with_equal_paths_are_refused(model: Any) -> None:
    with pytest.raises(ValueError, match=r"two arrays of the model have the path.*Rename the key"):
        tx.setup(tx.SGD(), model)


class Alike(tf.Module):
    """`a` is a leaf and `_a` holds one."""

    def __init__(self) -> None:
        super().__init__()
        self.a = tf.Variable(1.0)
        self._a = {"b": tf.Variable(2.0)}


def test_an_attribute_and_its_private_namesake_keep_their_names() -> None:
    model = Alike()
    state = tx.setup(tx.SGD(1.0), model)
    assert sorted(state.paths) == ["_a/b", "a"]
    _, values = tx.updated(state, model, {"a": tf.constant(1.0), "_a/b": tf.constant(3.0)})
    assert (float(values["a"]), float(values["_a"]["b"])) == (0.0, -1.0)


def test_a_mapping_that_cannot_be_written_to_is_made_again() -> None:
    model = MappingProxyType({"w": tf.ones(2), "name": "encoder"})
    state = tx.setup(tx.SGD(0.5), model)
    _, new = tx.update(state, model, {"w": tf.ones(2)})
    assert isinstance(new, MappingProxyType)
    assert new["name"] == "encoder"
    np.testing.assert_array_equal(new["w"], [0.5, 0.5])
