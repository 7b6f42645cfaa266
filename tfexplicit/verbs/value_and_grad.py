"""`value_and_grad` and `grad`: gradients that mirror the model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from tfexplicit.arrays import is_variable, raw, read
from tfexplicit.rebuild import mirror, with_leaves
from tfexplicit.tree import parse
from tfexplicit.unconverted import unconverted


def value_and_grad(fn: Callable[..., Any], has_aux: bool = False) -> Callable[..., Any]:
    """A function `(model, *args) -> (fn(model, *args), gradients)`.

    The gradients mirror the model: containers keep their type, a Keras model or `tf.Module` becomes
    a nested dict by path, and what is not trainable is None. They go to `update` as they are.

    Args:
        fn: returns a scalar tensor, or with `has_aux=True` a pair `(scalar, anything)`. Of a tensor
            with more elements it is their sum that is differentiated, as by a tape.
        has_aux: only the first of the pair is differentiated; the value is the whole pair.

    Raises:
        TypeError: `fn` returns a tuple without `has_aux`, or something else than a pair with it;
            or what is to be differentiated is no tensor.
    """

    def with_gradients(model: Any, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        return differentiated(fn, has_aux, model, args, kwargs)

    return with_gradients


def grad(fn: Callable[..., Any], has_aux: bool = False) -> Callable[..., Any]:
    """A function `(model, *args) -> gradients`, or with `has_aux=True` `(gradients, aux)`.

    Arguments, form of the gradients and errors as of `value_and_grad`.
    """
    both = value_and_grad(fn, has_aux)

    def gradients(model: Any, *args: Any, **kwargs: Any) -> Any:
        value, grads = both(model, *args, **kwargs)
        return (grads, value[1]) if has_aux else grads

    return gradients


@unconverted
def _loss_of(value: Any, has_aux: bool) -> Any:
    if has_aux:
        value = _first_of_pair(value)
    elif isinstance(value, tuple):
        raise TypeError(
            f"the function returned a tuple of {len(value)}, and gradients are of one scalar. "
            "Write tx.value_and_grad(fn, has_aux=True) for a function that returns (loss, aux)."
        )
    if not (tf.is_tensor(value) or is_variable(value)):
        raise TypeError(
            f"the function returned {type(value).__name__}: {value!r}, and gradients are of a "
            "scalar tensor. Return the loss as TensorFlow has computed it, without float() or "
            ".numpy()."
        )
    return value


def _first_of_pair(value: Any) -> Any:
    if not isinstance(value, tuple | list) or len(value) != 2:
        kind = type(value).__name__
        got = f"a {kind} of {len(value)}" if isinstance(value, tuple | list) else f"one {kind}"
        raise TypeError(
            f"with has_aux=True the function must return a pair (loss, aux), got {got}. Put all "
            "that is not the loss into one structure: return loss, (logits, statistics)."
        )
    return value[0]


def differentiated(
    fn: Callable[..., Any], has_aux: bool, model: Any, args: Any, kwargs: Any
) -> tuple[Any, Any]:
    tree = parse(model)
    was_unbuilt = tree.is_unbuilt
    # An ndarray cannot be watched, so the function gets tensors in place of arrays.
    inputs = [leaf.value if leaf.is_variable else read(leaf.value) for leaf in tree.leaves]
    with tf.GradientTape() as tape:
        tape.watch([raw(value) for value in inputs])
        value = fn(with_leaves(tree, inputs, model), *args, **kwargs)
        target = _loss_of(value, has_aux)
    if was_unbuilt:
        # The call has built it, and the tape has watched what was made.
        given = {
            id(raw(leaf.value)): read_as for leaf, read_as in zip(tree.leaves, inputs, strict=True)
        }
        tree = parse(model)
        inputs = [given.get(id(raw(leaf.value)), leaf.value) for leaf in tree.leaves]
    return value, mirror(tree, tape.gradient(target, [raw(value) for value in inputs]))
