"""`destructure`: the leaves as one vector and back, with Optimisers.jl's own cases and numbers.

Where TensorFlow differs: a tape gives the total gradient at each place of a tied leaf, not the
whole at the first and nothing at the second; and a gradient has the dtype of what it is taken of.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
import tensorflow as tf

import tfexplicit as tx


def double(*numbers: float) -> tf.Tensor:
    return tf.constant(numbers, tf.float64)


class Foo(NamedTuple):
    x: Any
    y: Any


M1 = double(1, 2, 3)
MAT = tf.constant([[4, 5], [6, 7]], tf.float32)
M2 = (M1, double(4, 5, 6))
M3 = {"x": M1, "y": np.sin, "z": double(4, 5, 6)}
M4 = {"x": M1, "y": M1, "z": double(4, 5, 6)}
M5 = {"a": (M3, True), "b": (M1, False), "c": (M4, True)}
M6 = {"a": M1, "b": tf.constant([4 + 1j], tf.complex128), "c": M1}
M7 = {
    "a": (np.sin, M1),
    "b": (np.cos, tf.constant([4, 5, 6])),
    "c": (np.tan, tf.Variable(double(7, 8, 9), trainable=False)),
}
M8 = [Foo(M1, M1), {"a": True, "b": Foo(double(4), False), "c": ()}]
M9 = {"a": M1, "b": MAT, "c": [MAT, M1]}


def values(array: Any) -> Any:
    return np.asarray(array).tolist()


def gradient(fn: Any, at: Any) -> Any:
    at = tf.convert_to_tensor(at)
    with tf.GradientTape() as tape:
        tape.watch(at)
        value = fn(at)
    return tape.gradient(value, at)


@pytest.mark.parametrize(
    ("model", "expected", "dtype"),
    [
        (M1, [1, 2, 3], tf.float64),
        (M2, [1, 2, 3, 4, 5, 6], tf.float64),
        (M3, [1, 2, 3, 4, 5, 6], tf.float64),
        (M4, [1, 2, 3, 4, 5, 6], tf.float64),
        (M5, [1, 2, 3, 4, 5, 6, 4, 5, 6], tf.float64),
        (M6, [1, 2, 3, 4 + 1j], tf.complex128),
        (M7, [1, 2, 3], tf.float64),
        (M8, [1, 2, 3, 4], tf.float64),
        (M9, [1, 2, 3, 4, 5, 6, 7], tf.float64),
    ],
    ids=[f"m{number}" for number in range(1, 10)],
)
def test_the_vector_and_its_length(model: Any, expected: Any, dtype: Any) -> None:
    flat, rebuild = tx.destructure(model)
    assert values(flat) == expected
    assert flat.dtype == dtype
    assert len(rebuild) == len(expected)


def test_rebuilt_from_another_vector() -> None:
    def rebuilt(model: Any, *numbers: complex) -> Any:
        return tx.destructure(model)[1](list(numbers))

    assert values(rebuilt(M1, 7, 8, 9)) == [7, 8, 9]
    assert [values(part) for part in rebuilt(M2, 4, 5, 6, 7, 8, 9)] == [[4, 5, 6], [7, 8, 9]]
    m3 = rebuilt(M3, 4, 5, 6, 7, 8, 9)
    assert (values(m3["x"]), m3["y"], values(m3["z"])) == ([4, 5, 6], np.sin, [7, 8, 9])
    m7 = rebuilt(M7, 10, 20, 30)
    assert values(m7["a"][1]) == [10, 20, 30]
    assert m7["a"][0] is np.sin
    # What is not trained is kept, the same objects.
    assert m7["b"] is M7["b"]
    assert m7["c"] is M7["c"]
    assert values(M7["a"][1]) == [1, 2, 3]


def test_ties_are_kept() -> None:
    m4 = tx.destructure(M4)[1]([4, 5, 6, 7, 8, 9])
    assert m4["x"] is m4["y"]
    assert (values(m4["x"]), values(m4["z"])) == ([4, 5, 6], [7, 8, 9])
    m5 = tx.destructure(M5)[1]([9, 8, 7, 6, 5, 4, 3, 2, 1])
    assert m5["a"][0]["x"] is m5["b"][0] is m5["c"][0]["y"]
    assert values(m5["b"][0]) == [9, 8, 7]
    assert m5["b"][1] is False
    m8 = tx.destructure(M8)[1]([1, 2, 3, 4])
    assert m8[0].x is m8[0].y
    assert isinstance(m8[1]["b"], Foo)
    assert (values(m8[1]["b"].x), m8[1]["b"].y) == ([4], False)
    m9 = tx.destructure(M9)[1]([10, 20, 30, 40, 50, 60, 70])
    assert m9["b"] is m9["c"][0]
    assert values(m9["b"]) == [[40, 50], [60, 70]]


def test_dtypes_are_restored() -> None:
    m6 = tx.destructure(M6)[1](np.array([4 + 1j, 5 + 2j, 6 + 3j, 7 + 4j]))
    assert m6["a"].dtype == tf.float64
    assert values(m6["a"]) == [4, 5, 6]
    assert m6["a"] is m6["c"]
    assert values(m6["b"]) == [7 + 4j]
    assert tx.destructure(M9)[1](np.ones(7))["b"].dtype == tf.float32
    # A real vector for a complex leaf, as a solver for real numbers hands it over.
    assert values(tx.destructure(M6)[1](np.ones(4))["b"]) == [1 + 0j]


@pytest.mark.parametrize("got", [[10.0, 20.0], [10.0, 20.0, 30.0, 40.0], []])
@pytest.mark.parametrize("model", [M7, {"w": tf.Variable(M1)}])
def test_a_wrong_length_names_both(model: Any, got: list[float]) -> None:
    message = rf"expected a vector of length 3, got one of length {len(got)}\."
    with pytest.raises(ValueError, match=message):
        tx.destructure(model)[1](got)


def test_a_wrong_rank_or_length_known_late_is_an_error() -> None:
    rebuild = tx.destructure(M7)[1]
    with pytest.raises(ValueError, match=r"length 3, got one \(1, 3\)"):
        rebuild([[1.0, 2.0, 3.0]])
    of_any_length = [tf.TensorSpec([None], tf.float64)]
    late = tf.function(lambda flat: rebuild(flat)["a"][1], input_signature=of_any_length)
    assert values(late(double(1, 2, 3))) == [1, 2, 3]
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"\[4\].*\[3\]"):
        late(double(1, 2, 3, 4))


def test_gradients_of_the_vector() -> None:
    def of(entry: int, model: Any) -> Any:
        return tx.grad(lambda m: tx.destructure(m)[0][entry])(model)

    assert values(of(0, M1)) == [1, 0, 0]
    assert [values(part) for part in of(1, M2)] == [[0, 1, 0], [0, 0, 0]]
    m3 = of(0, M3)
    assert (values(m3["x"]), m3["y"], values(m3["z"])) == ([1, 0, 0], None, [0, 0, 0])
    # Both places of a tie have the total gradient (Optimisers.jl: the second has nothing).
    assert [values(part) for part in of(2, (M1, M1))] == [[0, 0, 1], [0, 0, 1]]
    m4 = of(1, M4)
    assert m4["x"] is m4["y"]
    assert (values(m4["x"]), values(m4["z"])) == ([0, 1, 0], [0, 0, 0])
    m5 = of(2, M5)
    assert values(m5["a"][0]["x"]) == [0, 0, 1]
    assert m5["a"][1] is None
    m8 = tx.grad(lambda m: tf.reduce_sum(tx.destructure(m)[0] ** 2))(M8)
    assert (values(m8[0].x), values(m8[1]["b"].x)) == ([2, 4, 6], [8])
    m9 = tx.grad(lambda m: tf.reduce_sum(tf.sqrt(tx.destructure(m)[0])))(M9)
    np.testing.assert_allclose(m9["b"], 0.5 / np.sqrt(MAT), rtol=1e-6)
    assert m9["b"].dtype == tf.float32


def test_gradients_of_the_vector_with_a_complex_leaf() -> None:
    m6 = tx.grad(lambda m: tf.math.imag(tx.destructure(m)[0][3]))(M6)
    assert m6["a"].dtype == tf.float64
    assert values(m6["a"]) == [0, 0, 0]
    # TensorFlow's gradient of the imaginary part is i too.
    assert values(m6["b"]) == [1j]
    reals = tx.grad(lambda m: tf.math.real(tf.reduce_sum(tx.destructure(m)[0] ** 2)))(M6)
    np.testing.assert_allclose(reals["a"], [2, 4, 6], rtol=1e-14)


def test_gradients_of_rebuild() -> None:
    def of(model: Any, fn: Any) -> Any:
        flat, rebuild = tx.destructure(model)
        return values(
            gradient(lambda v: fn(rebuild(v)), tf.random.normal(flat.shape, 0, 1, tf.float64))
        )

    assert of(M1, lambda m: m[0]) == [1, 0, 0]
    assert of(M2, lambda m: m[0][1]) == [0, 1, 0, 0, 0, 0]
    assert of(M3, lambda m: m["x"][2]) == [0, 0, 1, 0, 0, 0]
    assert of(M3, lambda m: m["z"][0]) == [0, 0, 0, 1, 0, 0]
    assert of(M4, lambda m: m["x"][0]) == [1, 0, 0, 0, 0, 0]
    assert of(M4, lambda m: m["y"][1]) == [0, 1, 0, 0, 0, 0]
    mixed = of(M4, lambda m: m["x"][0] + 2 * m["y"][1] + 3 * m["z"][2])
    assert mixed == [1, 2, 0, 0, 0, 3]
    assert of(M7, lambda m: m["a"][1][2]) == [0, 0, 1]
    # What is not trained does not depend on the vector.
    assert gradient(lambda v: tx.destructure(M7)[1](v)["c"][1][1] * 1.0, double(1, 2, 3)) is None


def test_gradients_of_rebuild_reach_every_dtype() -> None:
    flat, rebuild = tx.destructure(M8)
    assert values(gradient(lambda v: tf.reduce_sum(rebuild(v)[0].y ** 2), flat)) == [2, 4, 6, 0]
    _, rebuild = tx.destructure(M9)
    ramp = double(1, 2, 3, 4, 5, 6, 7)
    halves = gradient(lambda v: tf.reduce_sum(rebuild(v)["c"][0] ** 2), ramp)
    assert values(halves) == [0, 0, 0, 8, 10, 12, 14]
    assert halves.dtype == tf.float64


def test_gradients_at_tied_places_are_added_up() -> None:
    shared = double(7, 7)
    flat, rebuild = tx.destructure({"x": shared, "y": double(3, 4), "z": shared})
    assert values(flat) == [7, 7, 3, 4]
    again = rebuild([1, 10, 100, 1000])
    assert [values(again[key]) for key in "xyz"] == [[1, 10], [100, 1000], [1, 10]]

    def of(fn: Any) -> Any:
        sums = lambda v: [tf.reduce_sum(rebuild(v)[key]) for key in "xyz"]  # noqa: E731
        return values(gradient(lambda v: fn(*sums(v)), double(0, 0, 0, 0)))

    assert of(lambda x, y, z: 3 * x + 13 * z) == [16, 16, 0, 0]
    assert of(lambda x, y, z: 4 * (x + z)) == [8, 8, 0, 0]
    assert of(lambda x, y, z: 4 * (x + y) + 13 * z) == [17, 17, 4, 4]


def test_parts_that_the_loss_does_not_use() -> None:
    flat, rebuild = tx.destructure({"x": double(1, 2), "y": double(3, 4, 5)})
    only_x = gradient(lambda v: tf.reduce_sum(rebuild(v)["x"]), flat)
    assert values(only_x) == [1, 1, 0, 0, 0]
    both = gradient(
        lambda v: 5 * tf.reduce_sum(rebuild(v)["x"]) + 7 * tf.reduce_sum(rebuild(v)["y"]), flat
    )
    assert values(both) == [5, 5, 7, 7, 7]


def test_a_wider_vector_has_a_gradient_of_its_own_dtype() -> None:
    """Optimisers.jl widens the gradient to that of its parts; a tape gives that of the vector."""
    model = {"x": tf.constant([1.0, 2.0]), "z": tf.constant([3.0])}
    _, rebuild = tx.destructure(model)
    wide = double(0.1, 0.2, 0.3)
    grad = gradient(lambda v: tf.reduce_sum(rebuild(v)["x"] ** 2), wide)
    assert grad.dtype == tf.float64
    np.testing.assert_allclose(grad, [0.2, 0.4, 0.0], rtol=1e-6)


def test_a_model_without_leaves() -> None:
    flat, rebuild = tx.destructure({"a": (), "b": np.sin})
    assert (values(flat), len(rebuild)) == ([], 0)
    assert rebuild([]) == {"a": (), "b": np.sin}
    with pytest.raises(ValueError, match=r"length 0, got one of length 1\."):
        rebuild([1.0])
    # It does not promote what it is joined to.
    half = np.ones(2, np.float16)
    assert np.concatenate([flat.numpy(), half]).dtype == np.float16
    beside, _ = tx.destructure([(), tf.constant([1, 2], tf.float16), {}])
    assert beside.dtype == tf.float16


@pytest.mark.parametrize("mode", ["eager", "function", "jit"])
def test_second_derivatives(mode: str) -> None:
    other = double(4, 5, 6)

    def squared(fn: Any) -> Any:
        return lambda *args: tf.reduce_sum(fn(*args) ** 2)

    def through_flatten(v: Any) -> Any:
        grads = tx.grad(squared(lambda m: tx.destructure(m)[0]))((v, other))
        return tf.reduce_sum(grads[0] ** 2)

    def through_sum(v: Any) -> Any:
        cube = tx.grad(lambda m: tf.reduce_sum(tx.destructure(m)[0]) ** 3)
        return tf.reduce_sum(cube((v, other))[0])

    def through_rebuild(v: Any) -> Any:
        rebuild = tx.destructure(M2)[1]
        return tf.reduce_sum(gradient(squared(lambda w: rebuild(w)[0]), v) ** 2)

    def through_rebuilt_dict(v: Any) -> Any:
        rebuild = tx.destructure(M3)[1]
        return tf.reduce_sum(gradient(squared(lambda w: rebuild(w)["z"]), v) ** 2)

    def second(fn: Any, at: Any) -> Any:
        compiled = {
            "eager": lambda f: f,
            "function": tf.function,
            "jit": lambda f: tf.function(f, jit_compile=True),
        }[mode]
        return values(compiled(lambda v: gradient(fn, v))(at))

    assert second(through_flatten, M1) == [8, 16, 24]
    assert second(through_sum, M1) == [378, 378, 378]
    six = double(1, 2, 3, 4, 5, 6)
    # These two are broken in Optimisers.jl.
    assert second(through_rebuild, six) == [8, 16, 24, 0, 0, 0]
    assert second(through_rebuilt_dict, six) == [0, 0, 0, 32, 40, 48]
