"""Types of one's own: registered nodes, declared fields, attrs classes, arrays, `Ref`."""

from __future__ import annotations

import dataclasses
from typing import Any

import attrs
import numpy as np
import pytest
import tensorflow as tf

import tfexplicit as tx


class Pair:
    def __init__(self, left: Any, right: Any) -> None:
        if left is None:
            raise TypeError("a pair needs a left")
        self.left = left
        self.right = right


tx.register_node(
    Pair,
    lambda pair: {"left": pair.left, "right": pair.right},
    lambda pair, new: type(pair)(new["left"], new["right"]),
)


class Twins(Pair):
    """A subclass is walked as its base is."""


@attrs.define
class Slotted:
    kernel: Any
    name: str = "slotted"


@attrs.frozen
class Frozen:
    kernel: Any
    sizes: tuple[int, ...] = (1, 2)


def paths(model: Any) -> list[str]:
    return [path for path, _ in tx.trainables(model, path=True)]


def test_a_registered_node_is_walked_and_rebuilt_by_its_own_functions() -> None:
    model = {"pair": Pair(tf.constant([1.0]), "kept"), "twins": Twins(tf.ones(2), tf.Variable(1.0))}
    assert paths(model) == ["pair/left", "twins/left", "twins/right"]

    def loss(model: Any) -> Any:
        twins = model["twins"]
        return model["pair"].left[0] * 2 + tf.reduce_sum(twins.left) * 3 + twins.right * 4

    _, grads = tx.value_and_grad(loss)(model)
    assert grads["pair"]["right"] is None
    state = tx.setup(tx.SGD(0.5), model)
    _, new = tx.update(state, model, grads)
    assert type(new["pair"]) is Pair
    assert new["pair"].right == "kept"
    np.testing.assert_array_equal(new["pair"].left, [0.0])
    assert type(new["twins"]) is Twins
    np.testing.assert_array_equal(new["twins"].left, [-0.5, -0.5])
    assert float(new["twins"].right) == -1.0
    assert new["twins"].right is model["twins"].right


def test_gradients_of_a_registered_node_may_be_such_a_node() -> None:
    model = Pair(tf.constant(1.0), tf.constant(1.0))
    _, new = tx.update(tx.setup(tx.SGD(1.0), model), model, Pair(tf.constant(0.25), None))
    assert (float(new.left), float(new.right)) == (0.75, 1.0)


@pytest.mark.parametrize(
    ("children", "error", "message"),
    [
        (lambda value: [tf.ones(1)], TypeError, "children of Odd must be"),
        (lambda value: [("a", 1), ("a", 2)], ValueError, "two children of a Odd have the name 'a'"),
    ],
)
def test_children_without_names_of_their_own_are_refused(
    children: Any, error: Any, message: str
) -> None:
    class Odd:
        pass

    tx.register_node(Odd, children, lambda value, new: value)
    with pytest.raises(error, match=message):
        tx.trainables(Odd())


def test_a_registration_without_functions_is_refused() -> None:
    with pytest.raises(TypeError, match=r"tx\.register_node\(Pair, children, rebuild\)"):
        tx.register_node(Pair(1, 2), None, None)  # type: ignore[arg-type]


def test_a_cycle_that_no_order_can_make_again_is_refused() -> None:
    pair = Pair(tf.ones(1), None)
    pair.right = pair
    assert paths(pair) == ["left"]
    with pytest.raises(TypeError, match="cycle through nothing but Pair cannot be made again"):
        tx.update(tx.setup(tx.SGD(), pair), pair, [tf.ones(1)])
    # Through a list it can, and with variables nothing has to be made.
    held: list[Any] = []
    pair = Pair(tf.ones(1), held)
    held.append(pair)
    _, new = tx.update(tx.setup(tx.SGD(1.0), pair), pair, [tf.ones(1)])
    assert new.right[0] is new
    pair.left, pair.right = tf.Variable([1.0]), pair
    tx.update(tx.setup(tx.SGD(1.0), pair), pair, [tf.ones(1)])
    assert float(pair.left[0]) == 0.0


def test_attrs_classes_are_containers() -> None:
    model = {"slotted": Slotted(tf.constant([1.0])), "frozen": Frozen(np.ones(2, np.float32))}
    assert paths(model) == ["slotted/kernel", "frozen/kernel"]
    grads = tx.grad(lambda model: tf.reduce_sum(model["frozen"].kernel) * 2)(model)
    assert isinstance(grads["frozen"], Frozen)
    assert grads["slotted"].kernel is None
    _, new = tx.update(tx.setup(tx.SGD(0.5), model), model, grads)
    assert isinstance(new["frozen"], Frozen)
    np.testing.assert_array_equal(new["frozen"].kernel, [0.0, 0.0])
    assert new["frozen"].sizes == (1, 2)
    np.testing.assert_array_equal(model["frozen"].kernel, [1.0, 1.0])
    assert new["slotted"] is model["slotted"]


def test_declared_fields_hold_on_every_kind_of_class() -> None:
    @tx.trainable_fields("kernel")
    class Plain:
        def __init__(self) -> None:
            self.kernel, self.scale = tf.ones(1), tf.ones(1)

    @tx.trainable_fields("kernel")
    @dataclasses.dataclass(frozen=True)
    class Above:
        scale: Any
        kernel: Any

    @dataclasses.dataclass(slots=True)
    @tx.trainable_fields("kernel")
    class Below:
        kernel: Any
        scale: Any

    @tx.trainable_fields()
    @attrs.define
    class Nothing:
        kernel: Any

    model = [Plain(), Above(tf.ones(1), tf.ones(1)), Below(tf.ones(1), tf.ones(1)), Nothing(1.0)]
    assert paths(model) == ["0/kernel", "1/kernel", "2/kernel"]
    _, new = tx.update(tx.setup(tx.SGD(1.0), model), model, [tf.ones(1)] * 3)
    assert [type(part) for part in new] == [type(part) for part in model]
    assert [float(part.kernel[0]) for part in new[:3]] == [0.0, 0.0, 0.0]
    assert all(after.scale is before.scale for after, before in zip(new[:3], model, strict=False))


def test_wrong_declarations_are_refused() -> None:
    @tx.trainable_fields("kernle")
    @dataclasses.dataclass
    class Typo:
        kernel: Any

    with pytest.raises(ValueError, match="Typo declares the trainable field 'kernle' and has 'ker"):
        tx.trainables(Typo(tf.ones(1)))
    with pytest.raises(TypeError, match="lists its own trainable_variables"):
        tx.trainable_fields(tf.Module, "w")
    with pytest.raises(TypeError, match="which fields of Pair"):
        tx.trainable_fields(Pair)
    with pytest.raises(TypeError, match="expected names of fields, got 3"):
        tx.trainable_fields(Pair, 3)  # type: ignore[call-overload]
