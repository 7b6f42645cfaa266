"""What `update` writes to besides variables: arrays that are mutable, and `Ref`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import tfexplicit as tx


class Buffer:
    """An array type that TensorFlow knows nothing of."""

    def __init__(self, *values: float) -> None:
        self.array = np.array(values, np.float32)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.array.shape

    @property
    def dtype(self) -> Any:
        return self.array.dtype

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.array.astype(dtype or self.array.dtype)

    def __setitem__(self, key: Any, value: Any) -> None:
        self.array[key] = value


class Page(Buffer):
    pass


class Shared(np.ndarray):
    pass


@tx.is_mutable.register(Buffer)
def _(array: Buffer) -> bool:
    return True


@tx.is_mutable.register(Page)
def _(array: Page) -> bool:
    return False


@tx.is_mutable.register(Shared)
def _(array: Shared) -> bool:
    return bool(array.flags.writeable)


def test_a_new_array_type_is_written_or_replaced_as_its_trait_says() -> None:
    shared = np.ones(2).view(Shared)
    read_only = np.ones(2).view(Shared)
    read_only.flags.writeable = False
    model = {"buffer": Buffer(1, 2), "page": Page(1), "shared": shared, "read_only": read_only}
    grads = {name: np.ones(array.shape) for name, array in model.items()}
    state = tx.setup(tx.SGD(0.5), model)
    assert state.paths == list(model)
    _, untouched = tx.updated(state, model, grads)
    np.testing.assert_array_equal(model["buffer"].array, [1, 2])
    np.testing.assert_array_equal(untouched["buffer"], [0.5, 1.5])
    _, new = tx.update(state, model, grads)
    assert new["buffer"] is model["buffer"]
    np.testing.assert_array_equal(model["buffer"].array, [0.5, 1.5])
    assert new["shared"] is shared
    np.testing.assert_array_equal(shared, [0.5, 0.5])
    np.testing.assert_array_equal(model["page"].array, [1])
    np.testing.assert_array_equal(new["page"], [0.5])
    np.testing.assert_array_equal(read_only, [1, 1])
    np.testing.assert_array_equal(new["read_only"], [0.5, 0.5])


@pytest.mark.parametrize(
    ("array", "mutable"),
    [(tf.Variable(1.0), True), (tf.constant(1.0), False), (np.ones(1), False)],
    ids=["variable", "tensor", "ndarray"],
)
def test_the_trait_of_known_arrays(array: Any, mutable: bool) -> None:
    assert tx.is_mutable(array) is mutable


def test_update_writes_to_a_ref_and_updated_makes_a_new_one() -> None:
    cell = tx.Ref(tf.constant([1.0, 2.0]))
    model = {"w": cell, "rest": [tx.Ref(np.ones(1, np.float32))]}
    state = tx.setup(tx.SGD(0.5, momentum=0.9), model)
    assert state.paths == ["w", "rest/0"]
    _, grads = tx.value_and_grad(lambda model: tf.reduce_sum(model["w"].value ** 2))(model)
    np.testing.assert_array_equal(grads["w"], [2.0, 4.0])
    assert grads["rest"] == [None]
    _, pure = tx.updated(state, model, grads)
    np.testing.assert_array_equal(cell.value, [1.0, 2.0])
    np.testing.assert_array_equal(pure["w"].value, [0.0, 0.0])
    tx.update(state, model, {"w": grads["w"], "rest": [np.ones(1)]})
    np.testing.assert_array_equal(cell.value, [0.0, 0.0])
    assert isinstance(model["rest"][0].value, np.ndarray)
    tx.update(state, model, [tf.zeros(2), None])
    np.testing.assert_allclose(cell.value, [-0.9, -1.8], rtol=1e-6)


def test_containers_around_a_ref_stay_and_those_around_bare_tensors_do_not() -> None:
    model = {"cells": [tx.Ref(tf.ones(1))], "bare": [tf.ones(1)]}
    _, new = tx.update(tx.setup(tx.SGD(1.0), model), model, [tf.ones(1)] * 2)
    assert new["cells"] is model["cells"]
    assert float(model["cells"][0].value[0]) == 0.0
    assert new["bare"] is not model["bare"]
    assert float(model["bare"][0][0]) == 1.0


def test_a_ref_may_hold_a_tuple_and_be_the_model() -> None:
    model = tx.Ref((tf.ones(1), "kept", tf.ones(1)))
    state = tx.setup(tx.SGD(1.0), model)
    assert state.paths == ["0", "2"]
    assert tx.setup(tx.SGD(), tx.Ref(tf.ones(1))).paths == ["leaf"]
    # A model that is written in place has nothing to return.
    loss = tx.minimize(lambda model: tf.reduce_sum(model.value[0] * 3), state, model)
    assert float(loss) == 3.0
    assert [float(model.value[0][0]), model.value[1], float(model.value[2][0])] == [-2, "kept", 1]


def test_a_tf_function_writes_only_to_a_ref_of_its_own() -> None:
    outside = {"w": tx.Ref(tf.ones(1))}
    state = tx.setup(tx.SGD(0.5), outside)

    @tf.function
    def step(model: Any) -> Any:
        tx.update(state, model, [tf.ones(1)])
        return model["w"].value

    with pytest.raises(TypeError, match=r"tx\.Ref is written in Python.*Use a tf\.Variable"):
        step(outside)
    np.testing.assert_array_equal(outside["w"].value, [1.0])

    @tf.function
    def inside(value: Any) -> Any:
        model = {"w": tx.Ref(value)}
        tx.update(state, model, [tf.ones(1)])
        return model["w"].value

    np.testing.assert_array_equal(inside(tf.ones(1)), [0.5])
    buffer = {"w": Buffer(1)}
    with pytest.raises(TypeError, match="Buffer at 'w' is written in Python"):
        tf.function(lambda: tx.update(tx.setup(tx.SGD(), buffer), buffer, [tf.ones(1)]))()
