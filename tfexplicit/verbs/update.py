"""`update` and `updated`: one step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from tfexplicit import gradients
from tfexplicit.arguments import expect_state_and_model
from tfexplicit.arrays import is_mutable, read, shape_of
from tfexplicit.compiled import run_step
from tfexplicit.observers import observed
from tfexplicit.opened import Move
from tfexplicit.paths import join, suggestion
from tfexplicit.plan import Place
from tfexplicit.rebuild import with_leaves
from tfexplicit.state import AnyState, OptState, located
from tfexplicit.subtree import Subtree
from tfexplicit.tree import Leaf, Tree, parse
from tfexplicit.unbuilt import tree_to_join
from tfexplicit.unconverted import unconverted
from tfexplicit.warn.dropped import warn_if_dropped
from tfexplicit.writing import Writer, is_known, overwritten


@unconverted
def update(
    opt_state: AnyState, model: Any, grads: Any, *, strict: bool = False
) -> tuple[AnyState, Any]:
    """One step: `(opt_state, model)` afterwards.

    Leaves that are variables are assigned in place, and so are their slots; then the return value
    may be ignored. So are arrays that `is_mutable`, and what is in a `Ref`. Any other tensor or
    ndarray is replaced in the model that is returned: if the model has one, use the return value.
    A model without leaves is no step: the count stays, as that of `tf_keras` does.

    Args:
        opt_state: from `setup`, or a part of it such as `opt_state["encoder"]`.
        model: the model that the state was set up on, or some of its leaves.
        grads: a tree like the model, a list in the order of `trainables(model)`, or a
            `{path: gradient}` dict. A leaf whose gradient is None is not stepped.
        strict: raise if a gradient is None.

    Raises:
        TypeError: an argument of another kind, such as a rule in place of the state.
        ValueError: gradients that do not fit the model, all None, or a leaf that the state was
            not set up on.
    """
    return _step("update", opt_state, model, grads, strict, Writer(in_place=True))


@unconverted
def updated(
    opt_state: AnyState, model: Any, grads: Any, *, strict: bool = False
) -> tuple[AnyState, Any]:
    """The step of `update` without changing anything: variables are read, tensors come back.

    In the model that is returned a Keras model or `tf.Module` becomes a nested dict of its values
    by path; containers keep their type. The step can be differentiated through.
    """
    return _step("updated", opt_state, model, grads, strict, Writer(in_place=False))


def _step(
    verb: str, opt_state: AnyState, model: Any, grads: Any, strict: bool, writer: Writer
) -> tuple[AnyState, Any]:
    expect_state_and_model(verb, opt_state, model, f"tx.{verb}(opt_state, model, grads)", grads)
    state, prefix = located(opt_state)
    tree = parse(model)
    in_order = gradients.in_leaf_order(tree, grads, state.plan.tied)
    if not tree.leaves:
        return opt_state, model
    _check_missing(tree, in_order, strict)
    places = _places(state, prefix, tree, model)
    moves = [
        Move(place, leaf.value, grad)
        for leaf, place, grad in zip(tree.leaves, places, in_order, strict=True)
        if grad is not None
    ]
    if writer.in_place:
        with observed([leaf.value for leaf in tree.leaves], in_order, state):
            _prepare_keras_optimizer(state, in_order)
            after, new = run_step(state, moves, writer)
    else:
        _refuse_own_update(state, moves)
        after, new = run_step(state, moves, writer)
    values = _all_values(tree, in_order, new, writer)
    new_model = with_leaves(tree, values, model, writer.in_place)
    if new_model is not model:
        warn_if_dropped(verb)
    return Subtree(after, prefix) if isinstance(opt_state, Subtree) else after, new_model


def _check_missing(tree: Tree, grads: Sequence[Any], strict: bool) -> None:
    missing = [leaf.path for leaf, grad in zip(tree.leaves, grads, strict=True) if grad is None]
    if len(missing) == len(tree.leaves):
        raise ValueError(
            "No gradients provided for any variable: every gradient is None, so there is nothing "
            "to step. Is the loss computed from the model inside the tape? Leaves: "
            + ", ".join(missing)
        )
    if missing and strict:
        raise ValueError("strict=True, and the gradient is None at " + ", ".join(missing))


def _places(state: OptState, prefix: str, tree: Tree, model: Any) -> list[Place]:
    """Where each leaf lives, after making state for leaves that the model has got since."""
    places = state.places_of(tree, prefix)
    if None in places and state.is_live:
        state.join(tree_to_join(state, model, tree))
        places = state.places_of(tree, prefix)
    for leaf, place in zip(tree.leaves, places, strict=True):
        if place is None:
            raise unknown_leaf(state, prefix, leaf)
        _check_shape(state, leaf, place)
    return [place for place in places if place is not None]


def _check_shape(state: OptState, leaf: Leaf, place: Place) -> None:
    target = state.groups[place.group].targets[place.row]
    if target is leaf.value:
        return
    expected = tf.TensorShape(shape_of(target))
    if not expected.is_compatible_with(tf.TensorShape(shape_of(leaf.value))):
        raise ValueError(
            f"{leaf.path!r} has shape {shape_of(leaf.value)}, the state was set up on "
            f"{tuple(expected)}. Write opt_state = tx.setup(rule, model) for this model."
        )


def unknown_leaf(state: OptState, prefix: str, leaf: Leaf) -> ValueError:
    path = join(prefix, leaf.path)
    if path in state.paths:
        reason = f"{path!r} is another variable than the one that the state was set up on."
    else:
        reason = f"the state has no leaf {path!r}. {suggestion(path, state.paths)}"
    return ValueError(
        f"{reason} The state belongs to the model that it was set up on: write "
        "opt_state = tx.setup(rule, model) once for this model."
    )


def _prepare_keras_optimizer(state: OptState, grads: Sequence[Any]) -> None:
    owner = state.plan.taken_over
    if owner is None:
        return
    used_formula = not owner.counts_itself
    owner.before_step(grads)
    if used_formula and owner.counts_itself and any(group.is_adjusted() for group in state.groups):
        raise ValueError(
            f"update: for sparse gradients, and to clip under several replicas, the Keras "
            f"{type(owner.optimizer).__name__} is stepped by its own update, which does not know "
            "what tx.adjust set. Use a rule such as tx.Adam()."
        )


def _refuse_own_update(state: OptState, moves: Sequence[Move]) -> None:
    owner = state.plan.taken_over
    sparse = any(isinstance(move.grad, tf.IndexedSlices) for move in moves)
    if owner is not None and (owner.counts_itself or sparse):
        reason = "" if owner.counts_itself else " when a gradient is sparse"
        raise TypeError(
            f"updated: the Keras {type(owner.optimizer).__name__} is stepped by its own update"
            f"{reason}, which changes variables. Use tx.update, or a rule such as tx.Adam()."
        )


def _all_values(tree: Tree, grads: Sequence[Any], new: Sequence[Any], writer: Writer) -> list[Any]:
    """Values of all leaves in order, those without a gradient included."""
    supply = iter(new)
    values = []
    for leaf, grad in zip(tree.leaves, grads, strict=True):
        if grad is not None:
            values.append(_like_before(leaf, next(supply), writer))
        else:
            values.append(leaf.value if writer.in_place else read(leaf.value))
    return values


def _like_before(leaf: Leaf, value: Any, writer: Writer) -> Any:
    """`update` gives an ndarray back for an ndarray, if the value is known already."""
    if not writer.in_place or leaf.is_variable:
        return value
    if is_mutable(leaf.value):
        return overwritten(leaf.value, value, leaf.path)
    return value.numpy() if isinstance(leaf.value, np.ndarray) and is_known(value) else value
