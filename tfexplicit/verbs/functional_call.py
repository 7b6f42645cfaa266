"""`functional_call`: run a Keras model with given values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfexplicit import modules
from tfexplicit.arrays import raw, read
from tfexplicit.nested import Nested, nested
from tfexplicit.tree import Tree, parse
from tfexplicit.unconverted import unconverted
from tfexplicit.values import Value, given_values, values_of


def functional_call(model: Any, params: Any, *args: Any, **kwargs: Any) -> tuple[Any, Nested]:
    """`(model(*args, **kwargs), updates)` as if the model had these values; it keeps its own.

    `updates` is a nested dict by path of all values that are not trained, as the call leaves them:
    moving statistics, seed states. Hand them to the next call, or to `tx.assign(model, updates)`.
    Losses that layers add (`add_loss`, regularizers) are not collected: add them from `params`.
    What is not among the model's variables (metrics, the seed that Keras shares between random ops
    without one) is left as it was.

    Differentiable in `params`, also twice; works in `tf.function` and under `jit_compile=True`.

    Args:
        model: a built Keras 3 model or layer, or any callable object all of whose variables are
            Keras 3 variables.
        params: a nested dict by path of all its values (`tx.params(model)`), of the trainable
            ones (as from `updated`), or of the others; what is not in it is taken from the model.
            Or a tuple of such dicts: `(weights, statistics)`.

    Raises:
        TypeError: a model that holds `tf.Variable`s (`tf_keras`, `tf.Module`) or is not callable,
            or values of another dtype.
        ValueError: an unbuilt model, a path that it does not have, some missing, or another shape.
    """
    values, mapping = _given_and_own(model, params)
    import keras  # not above: the import draws from `random`, which the program may have seeded

    with keras.StatelessScope(state_mapping=mapping) as scope:
        outputs = model(*args, **kwargs)
    return outputs, _updates(values, scope)


@unconverted
def _given_and_own(model: Any, params: Any) -> tuple[list[Value], list[tuple[Any, Any]]]:
    tree = parse(model)
    _check_callable(model, tree)
    values = values_of(tree)
    _check_variables(model, values)
    new = given_values("functional_call", values, params)
    mapping = [
        (value.value, new[number] if number in new else read(value.value))
        for number, value in enumerate(values)
    ]
    return values, mapping


@unconverted
def _updates(values: Sequence[Value], scope: Any) -> Nested:
    return nested(
        (value.path, scope.get_current_value(value.value))
        for value in values
        if not value.trainable
    )


def _check_callable(model: Any, tree: Tree) -> None:
    if not callable(model) or tree.root is None:
        raise TypeError(
            f"functional_call: expected a Keras model, got {type(model).__name__}. Of a container "
            'call each part: tx.functional_call(model["encoder"], params["encoder"], x).'
        )
    if modules.is_unbuilt(model):
        raise ValueError(
            f"functional_call: the {type(model).__name__} is not built, so it has no values to "
            "take the place of. Call it once on some data before."
        )


def _check_variables(model: Any, values: Sequence[Value]) -> None:
    for value in values:
        # Not by class: `keras.Variable` of Keras 3.3 is none that a layer has.
        if raw(value.value) is value.value:
            raise TypeError(
                f"functional_call: {value.path!r} of the {type(model).__name__} is a tf.Variable, "
                "which TensorFlow reads directly, so no other value can be given. Use a Keras 3 "
                "model (import keras), or a function of the values: loss(params, x)."
            )
